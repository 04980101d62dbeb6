/**
 * PostgreSQL's wire protocol, as far as it tells what a client asked for and when it was answered.
 *
 * @module
 */

/** One statement with its values, as text. */
export interface WireStatement {
  readonly text: string
  readonly values: readonly (string | null)[]
}

/** What was sent up to a Sync, or one simple query. */
export interface WireRequest {
  readonly statements: readonly WireStatement[]
}

/** The states that a server reports when it is ready: outside of a transaction, in one, in a failed one. */
export type ReadyState = 'I' | 'T' | 'E'

/** Cuts a stream into its messages. */
function createCutter(isClient: boolean): (chunk: Buffer) => Iterable<{ type: string; body: Buffer }> {
  let rest: Buffer = Buffer.alloc(0)
  // A client's first message has no type: its length, then the version.
  let started = !isClient
  return function* (chunk) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      const head = started ? 1 : 0
      if (rest.length < head + 4) return
      const end = head + rest.readInt32BE(head)
      if (rest.length < end) return
      const message = rest.subarray(0, end)
      rest = rest.subarray(end)
      if (started) yield { type: String.fromCharCode(message[0] ?? 0), body: message.subarray(5) }
      started = true
    }
  }
}

/** Reads what a client sends; the returned function gives the requests that a chunk completes. */
export function createRequestReader(): (chunk: Buffer) => WireRequest[] {
  const cut = createCutter(true)
  const prepared = new Map<string, string>()
  let statements: WireStatement[] = []
  return (chunk) => {
    const requests: WireRequest[] = []
    for (const { type, body } of cut(chunk)) {
      if (type === 'P') {
        const [name, text] = textsOf(body, 2)
        prepared.set(name ?? '', text ?? '')
      } else if (type === 'B') {
        statements.push(readBind(body, prepared))
      } else if (type === 'Q') {
        const [text = ''] = textsOf(body, 1)
        requests.push({ statements: splitSimple(text) })
      } else if (type === 'S') {
        requests.push({ statements })
        statements = []
      }
    }
    return requests
  }
}

/** Reads what a server sends; the returned function gives the states in which a chunk says that it is ready. */
export function createReadyReader(): (chunk: Buffer) => ReadyState[] {
  const cut = createCutter(false)
  return (chunk) =>
    [...cut(chunk)]
      .filter(({ type }) => type === 'Z')
      .map(({ body }) => String.fromCharCode(body[0] ?? 0) as ReadyState)
}

function textsOf(body: Buffer, count: number): string[] {
  return body.toString('utf8').split('\0').slice(0, count)
}

function readBind(body: Buffer, prepared: ReadonlyMap<string, string>): WireStatement {
  const nameAt = body.indexOf(0) + 1
  const formatsAt = body.indexOf(0, nameAt) + 1
  const text = prepared.get(body.toString('utf8', nameAt, formatsAt - 1)) ?? ''
  const formats = body.readInt16BE(formatsAt)
  const isBinary = (place: number): boolean =>
    formats > 0 && body.readInt16BE(formatsAt + 2 + 2 * (formats === 1 ? 0 : place)) === 1
  let at = formatsAt + 2 + 2 * formats
  const count = body.readInt16BE(at)
  at += 2
  const values: (string | null)[] = []
  for (let place = 0; place < count; place += 1) {
    const length = body.readInt32BE(at)
    at += 4
    const bytes = body.subarray(at, at + Math.max(0, length))
    // Drivers send as binary what is bytes.
    const shown = isBinary(place) ? `\\x${bytes.toString('hex')}` : bytes.toString('utf8')
    values.push(length < 0 ? null : shown)
    at += bytes.length
  }
  return { text, values }
}

/** The statements of a simple query. A semicolon within quotes would be cut as well: such a query is left whole. */
function splitSimple(text: string): WireStatement[] {
  const parts = /['"$]/.test(text) ? [text] : text.split(';')
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => ({ text: part, values: [] }))
}
