/**
 * One HTTP call as it arrived, before anything was decoded.
 *
 * @module
 */

/** What an adapter hands over; nothing in it has been decoded, joined or trimmed. */
export interface RawRequest {
  readonly method: string
  /** The raw request target exactly as received, one character a byte: path, `?` and query. */
  readonly url: string
  /** Lower-case names; a header that came twice is a list. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Buffer
  /** The sender's address after the trusted proxies were taken off. */
  readonly remoteAddress: string
}

/** The query of a request target without its question mark; empty where there is none. */
export function queryOf(url: string): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}
