/**
 * Counts the answers to copies of one call.
 *
 * @module
 */
import type { HttpReply } from './http-call.js'
import { visible } from './table.js'

export interface Tally {
  readonly answers: readonly {
    readonly status: number
    readonly count: number
    readonly bodies: readonly string[]
  }[]
  readonly failures: readonly { readonly code: string; readonly count: number }[]
  /** Between a request and its answer, in milliseconds; null where nothing answered. */
  readonly milliseconds: { readonly fastest: number; readonly slowest: number } | null
}

/** Groups the answers by status, the most frequent first. */
export function tallyReplies(replies: readonly HttpReply[]): Tally {
  const byStatus = new Map<number, string[]>()
  const byCode = new Map<string, number>()
  const times: number[] = []
  for (const reply of replies) {
    if (reply.kind === 'failure') byCode.set(reply.code, (byCode.get(reply.code) ?? 0) + 1)
    else {
      byStatus.set(reply.status, [...(byStatus.get(reply.status) ?? []), reply.body])
      times.push(Math.round(reply.milliseconds * 10) / 10)
    }
  }
  return {
    answers: [...byStatus]
      .map(([status, bodies]) => ({ status, count: bodies.length, bodies: [...new Set(bodies)] }))
      .sort((a, b) => b.count - a.count),
    failures: [...byCode].map(([code, count]) => ({ code, count })),
    milliseconds: times.length === 0 ? null : { fastest: Math.min(...times), slowest: Math.max(...times) },
  }
}

/** One line for each kind of answer, such as `20 × 200`. */
export function tallyText({ answers, failures }: Tally): string {
  return [
    ...answers.map(({ status, count }) => `${count} × ${status}`),
    ...failures.map(({ code, count }) => `${count} × no answer (${visible(code)})`),
  ].join('\n')
}

/** What the answers other than 200 said, for the reader. */
export function refusalNotes({ answers }: Tally): string[] {
  return answers
    .filter(({ status }) => status !== 200)
    .flatMap(({ status, bodies }) =>
      bodies.slice(0, 3).map((body) => `${status}: ${visible(body.slice(0, 200))}`),
    )
}

/** Whether any answer accepts the call, as a network reads it. */
export function accepted({ answers }: Tally): boolean {
  return answers.some(({ status }) => status >= 200 && status < 300)
}
