/**
 * @module
 */
import { visible } from './table.js'

/** A text as one word of a POSIX shell, quoted where it has to be, for commands that are shown to be pasted. */
export function shellWord(text: string): string {
  const shown = visible(text)
  return /^[A-Za-z0-9_.,:@%+=/][A-Za-z0-9_.,:@%+=/-]*$/.test(shown) ? shown : shellQuote(shown)
}

/** Quotes a text for a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
