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
  return SECRET_NAME.test(name) || names.includes(name)
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

/** Hides every known secret in a text, as it stands and percent-encoded. */
export function redactText(text: string, { secrets = [] }: RedactOptions = {}): string {
  return secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .reduce((hidden, secret) => hidden.replaceAll(secret, HIDDEN), text)
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
