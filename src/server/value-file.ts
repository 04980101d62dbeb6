/**
 * Values kept in files, as Docker and Kubernetes hand out secrets.
 *
 * @module
 */
import { readFile } from 'node:fs/promises'
import { PaidonceError } from '../errors.js'

const MAX_VALUE_BYTES = 64 * 1024

/**
 * Reads a value out of a file; one line break at its end is dropped, because editors and `echo` add one.
 *
 * @param what how messages name the value, such as `PAIDONCE_ADMIN_TOKEN_FILE`
 * @throws PaidonceError `config_invalid` where the file cannot be read, or is no UTF-8 text of at most 64 KiB
 */
export async function readValueFile(path: string, what: string): Promise<string> {
  let bytes: Buffer
  try {
    bytes = await readFile(path)
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreadable'
    throw new PaidonceError(
      'config_invalid',
      `${what} names the file ${JSON.stringify(path)}, which cannot be read (${reason}).`,
      {
        hint: 'Give the path of a file that the server may read.',
        cause,
      },
    )
  }
  if (bytes.length > MAX_VALUE_BYTES) {
    throw new PaidonceError(
      'config_invalid',
      `${what} names the file ${JSON.stringify(path)}, which is larger than 64 KiB.`,
      {
        hint: 'Give a file that holds the value and nothing else.',
      },
    )
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, '')
  } catch (cause) {
    throw new PaidonceError(
      'config_invalid',
      `${what} names the file ${JSON.stringify(path)}, which is no UTF-8 text.`,
      {
        hint: 'Save the file as UTF-8 text.',
        cause,
      },
    )
  }
}
