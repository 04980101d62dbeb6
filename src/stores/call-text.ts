/**
 * Two short texts of a call that are kept for people only. They are cut at the store's door, because neither may ever
 * be the reason that a database refuses the row of a reward.
 *
 * @module
 */
import { StoreError } from '../errors.js'

const IP_LENGTH = 64
const METHOD_LENGTH = 32

/** @throws StoreError `refused` where it is no text at all */
export function ipText(ip: string): string {
  return printable(ip, IP_LENGTH)
}

/** @throws StoreError `refused` where it is no text at all */
export function methodText(method: string): string {
  return printable(method, METHOD_LENGTH)
}

function printable(text: string, length: number): string {
  if (typeof text !== 'string') {
    throw new StoreError('refused', `A text was expected, not a value of the type ${typeof text}.`)
  }
  return text.replace(/[^\x20-\x7e]/gu, '?').slice(0, length)
}
