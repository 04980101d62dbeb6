/**
 * Writes the inbox rows that belong to no ledger transaction: rejected calls, calls that were dropped, and the
 * answers that really left. It is bounded and best effort: it never delays an answer and never decides about money.
 *
 * @module
 */
import { StoreError } from '../errors.js'
import type { AnswerCorrection, LedgerStore } from '../ledger/store.js'
import type { PostbackRow } from '../ledger/postback-row.js'

/** Rows that may wait, of each of the two kinds; real calls never compete with forged ones for a place. */
const MAX_WAITING = 5_000
const BATCH = 200
/** Rows of so long are written together: each transaction costs the groups of real calls as much as several rows do. */
const GATHER_MS = 50
const PAUSE_AFTER_FAILURE_MS = 500

export class InboxWriter {
  readonly #store: Pick<LedgerStore, 'writePostbacks' | 'correctAnswers'>
  readonly #verified: PostbackRow[] = []
  readonly #rejected: PostbackRow[] = []
  readonly #corrections: AnswerCorrection[] = []
  #running: Promise<void> | null = null
  #closing = false
  /** Ends the pause between two batches. */
  #wake: () => void = () => undefined
  #lost = 0

  constructor(store: Pick<LedgerStore, 'writePostbacks' | 'correctAnswers'>) {
    this.#store = store
  }

  /** Rows given up because too many waited, or because the database stayed away until the end. */
  get lost(): number {
    return this.#lost
  }

  keep(row: PostbackRow): void {
    const queue = row.verified ? this.#verified : this.#rejected
    if (queue.length >= MAX_WAITING) {
      this.#lost += 1
      return
    }
    queue.push(row)
    this.#running ??= this.#run()
  }

  /** Puts right the answer of a row that is committed. */
  correct(correction: AnswerCorrection): void {
    if (this.#corrections.length >= MAX_WAITING) {
      this.#lost += 1
      return
    }
    this.#corrections.push(correction)
    this.#running ??= this.#run()
  }

  /** Writes what waits, trying once more where the database fails, and stops. */
  async close(): Promise<void> {
    this.#closing = true
    this.#wake()
    await this.#running
  }

  async #run(): Promise<void> {
    // The rows of one turn of the event loop are gathered into one statement; a row that comes alone is there at once.
    await new Promise((resolve) => setImmediate(resolve))
    let failures = 0
    while (this.#waiting() > 0) {
      try {
        await this.#writeBatch()
        failures = 0
        if (this.#waiting() < BATCH) await this.#gather()
      } catch {
        failures += 1
        if (this.#closing && failures > 1) {
          this.#lost += this.#waiting()
          break
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE_AFTER_FAILURE_MS))
      }
    }
    this.#running = null
  }

  /** Nobody waits for these rows but who closes the writer. */
  async #gather(): Promise<void> {
    if (this.#closing) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** A batch leaves its queue only after it was written; writing a row twice changes nothing. */
  async #writeBatch(): Promise<void> {
    for (const queue of [this.#verified, this.#rejected]) {
      const batch = queue.slice(0, BATCH)
      if (batch.length === 0) continue
      await this.#writeRows(batch)
      queue.splice(0, batch.length)
    }
    const corrections = this.#corrections.slice(0, BATCH)
    if (corrections.length === 0) return
    await this.#store.correctAnswers(corrections)
    this.#corrections.splice(0, corrections.length)
  }

  /** A row that the database refuses is given up alone; behind it others wait. */
  async #writeRows(rows: readonly PostbackRow[]): Promise<void> {
    try {
      await this.#store.writePostbacks(rows)
    } catch (error) {
      if (!(error instanceof StoreError) || error.failure !== 'refused') throw error
      if (rows.length === 1) {
        this.#lost += 1
        return
      }
      for (const row of rows) await this.#writeRows([row])
    }
  }

  #waiting(): number {
    return this.#verified.length + this.#rejected.length + this.#corrections.length
  }
}
