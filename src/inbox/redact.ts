/**
 * Hides secrets in what was received before a person or a log sees it. Some networks send their secret as a plain
 * parameter, so a raw URL must be treated as one.
 *
 * @module
 */

/** Names that give a secret away whatever the network. */
const SECRET_NAME = /secret|token|pass(word|wd|phrase)?$|passwd|pwd|api_?key|(^|[_-])key$|^auth/i

const HIDDEN = '***'

/** What is to be hidden beside the names that always are. */
export interface RedactOptions {
  /** Parameter names that carry a secret in this network. */
  readonly names?: readonly string[]
  /** The secrets themselves, hidden wherever they stand. */
  readonly secrets?: readonly string[]
}

/** Whether a parameter or header of this name is to be hidden. */
export function isSecretName(name: string, names: readonly string[] = []): boolean {
  // Headers arrive in lower case, whatever a profile calls them.
  const lower = name.toLowerCase()
  return SECRET_NAME.test(name) || names.some((known) => known.toLowerCase() === lower)
}

/**
 * Hides the values of secret-looking parameters in a raw request target, and every known secret in it. Everything
 * else stays byte for byte, so that a signature can still be checked by hand.
 *
 * @example
 * ```ts
 * redactUrl('/postback/demo?tx=1&token=abc') // "/postback/demo?tx=1&token=***"
 * ```
 */
export function redactUrl(url: string, options: RedactOptions = {}): string {
  const mark = url.indexOf('?')
  if (mark < 0) return redactText(url, options)
  return redactText(url.slice(0, mark), options) + '?' + redactForm(url.slice(mark + 1), options)
}

/** The same for a query or a form without its question mark. */
export function redactForm(form: string, options: RedactOptions = {}): string {
  return form
    .split('&')
    .map((pair) => redactPair(pair, options))
    .join('&')
}

function redactPair(pair: string, options: RedactOptions): string {
  const equals = pair.indexOf('=')
  if (equals < 0) return redactText(pair, options)
  const value = pair.slice(equals + 1)
  const isSecret =
    isSecretName(decoded(pair.slice(0, equals)), options.names) ||
    (options.secrets ?? []).some((secret) => secret !== '' && decoded(value).includes(secret))
  return isSecret && value !== '' ? pair.slice(0, equals + 1) + HIDDEN : redactText(pair, options)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/**
 * Hides the secrets in a body, by name and as known: in a form, or in JSON. What the body is shows in its first
 * character, because networks send the wrong content type, and a body that was cut short is read as far as it goes.
 *
 * @example
 * ```ts
 * redactBody('{"user":"u1","token":"abc"}') // '{"user":"u1","token":"***"}'
 * ```
 */
export function redactBody(body: string, options: RedactOptions = {}): string {
  return /^\s*[[{]/.test(body.replace(/^\ufeff/, '')) ? redactJson(body, options) : redactForm(body, options)
}

const JSON_TOKEN = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|[[\]{},:]|[^\s"[\]{},:]+|\s+/g

/** The same in JSON text; everything that is not hidden stays as it was written. */
export function redactJson(text: string, options: RedactOptions = {}): string {
  const tokens = text.match(JSON_TOKEN) ?? []
  let shown = ''
  // Whether the value that comes next stands under a secret name.
  let isNextSecret = false
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? ''
    const isName = token.startsWith('"') && followedByColon(tokens, at)
    if (isName) isNextSecret = isSecretKey(textOf(token), options.names)
    if (isName || token === ':' || token.trim() === '') shown += redactText(token, options)
    else if (isNextSecret) {
      shown += token === 'null' || token === '""' ? token : `"${HIDDEN}"`
      at = endOfValue(tokens, at)
      isNextSecret = false
    } else shown += holdsSecret(token, options) ? `"${HIDDEN}"` : redactText(token, options)
  }
  return shown
}

function followedByColon(tokens: readonly string[], at: number): boolean {
  const next = tokens[at + 1] ?? ''
  return (next.trim() === '' ? tokens[at + 2] : next) === ':'
}

/** A profile names a field of a JSON body by its path, such as `user.token`. */
function isSecretKey(key: string, names: readonly string[] = []): boolean {
  return isSecretName(key, names) || names.some((name) => name.endsWith(`.${key}`))
}

/** The place of a value's last token; a list or an object under a secret name is hidden as a whole. */
function endOfValue(tokens: readonly string[], start: number): number {
  let depth = 0
  for (let at = start; at < tokens.length; at += 1) {
    const token = tokens[at] ?? ''
    if (token === '{' || token === '[') depth += 1
    if (token === '}' || token === ']') depth -= 1
    if (depth <= 0) return at
  }
  return tokens.length
}

/** JSON can write one text in many ways (`\/`, `\u002f`), so a string is compared as what it means. */
function holdsSecret(token: string, { secrets = [] }: RedactOptions): boolean {
  if (!token.startsWith('"') || !token.includes('\\')) return false
  const text = textOf(token)
  return secrets.some((secret) => secret !== '' && text.includes(secret))
}

function textOf(token: string): string {
  try {
    return String(JSON.parse(token))
  } catch {
    return token.replace(/^"|"$/g, '')
  }
}

/** Hides every known secret in a text, as it stands and percent-encoded. */
export function redactText(text: string, { secrets = [] }: RedactOptions = {}): string {
  return (
    secrets
      .filter((secret) => secret !== '')
      .flatMap((secret) => [secret, encodeURIComponent(secret)])
      // The longest first: one that begins with another must not leave its rest behind.
      .sort((a, b) => b.length - a.length)
      .reduce((hidden, secret) => hidden.replaceAll(secret, HIDDEN), text)
  )
}

/** Hides secret-looking headers, and known secrets in the others; takes and gives the inbox's JSON object. */
export function redactHeaders(headers: string, options: RedactOptions = {}): Record<string, unknown> {
  const parsed: unknown = JSON.parse(headers)
  if (typeof parsed !== 'object' || parsed === null) return {}
  return Object.fromEntries(
    Object.entries(parsed).map(([name, value]: [string, unknown]) => [
      name,
      isSecretName(name, options.names) ? HIDDEN : redactValue(value, options),
    ]),
  )
}

function redactValue(value: unknown, options: RedactOptions): unknown {
  if (typeof value === 'string') return redactText(value, options)
  return Array.isArray(value) ? value.map((item: unknown) => redactValue(item, options)) : value
}
