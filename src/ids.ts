/**
 * Ids of networks, transactions, users and events are opaque bytes: never trimmed, folded, parsed or
 * shortened. This file holds their one grammar and their one order.
 *
 * @module
 */

/** Longest id in UTF-8 bytes. */
export const MAX_ID_BYTES = 255

/** Joins the parts of a composite transaction key; no id can contain it, because it is a control character. */
export const KEY_SEPARATOR = '\u001f'

/** Longest transaction key in UTF-8 bytes: three ids and their separators, within InnoDB's 3,072-byte index limit. */
export const MAX_KEY_BYTES = 3 * MAX_ID_BYTES + 2

/** The reserved id space of withdrawals and adjustments; no network can be named so. */
export const RESERVED_ID_SPACE = 'paidonce:'

/** Why a text is not an id. */
export type IdFault = 'empty' | 'blank' | 'too_long' | 'control_character' | 'unexpanded_macro'

// eslint-disable-next-line no-control-regex -- control characters are exactly what this looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** Networks send the macro itself where an account or a link is set up wrongly. */
const MACRO =
  /^(\{[^{}]*\}|\{\{[^{}]*\}\}|\[[A-Za-z_][A-Za-z0-9_ -]*\]|%%[A-Za-z0-9_]+%%|<[A-Za-z_][A-Za-z0-9_-]*>|\$\{[^{}]*\})$/

/** Tells what is wrong with an id, or null where it can be used as it is. */
export function idFault(text: string): IdFault | null {
  if (text === '') return 'empty'
  if (CONTROL.test(text)) return 'control_character'
  if (/^\s+$/u.test(text)) return 'blank'
  if (text.length > MAX_ID_BYTES || Buffer.byteLength(text) > MAX_ID_BYTES) return 'too_long'
  if (MACRO.test(text)) return 'unexpanded_macro'
  return null
}

/** Orders texts by their UTF-8 bytes, as `COLLATE "C"` and `VARBINARY` do; JavaScript's own order differs beyond U+FFFF. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index += 1) {
    const left = a.charCodeAt(index)
    const right = b.charCodeAt(index)
    if (left !== right) {
      // Surrogates stand for code points above U+FFFF, which UTF-8 sorts after U+E000 to U+FFFF.
      return fixUp(left) - fixUp(right)
    }
  }
  return a.length - b.length
}

function fixUp(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800
  return unit >= 0xd800 ? unit + 0x2000 : unit
}
