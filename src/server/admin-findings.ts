/**
 * What about the admin API's settings an operator should know: who could guess its token, who could reach it.
 *
 * @module
 */
import type { StoreFinding } from '../ledger/store.js'
import type { Settings } from './settings.js'

/** Below this a token can be one that a person thought up. */
const MIN_TOKEN_LENGTH = 20

const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/i

/** Judges the admin API's token and address; for `doctor`, and for the log at the start. Never holds the token. */
export function adminFindings({
  adminToken,
  adminPort,
  host,
}: Pick<Settings, 'adminToken' | 'adminPort' | 'host'>): StoreFinding[] {
  return [tokenFinding(adminToken), addressFinding(host, adminPort)]
}

function tokenFinding(token: string | null): StoreFinding {
  const check = 'admin_token'
  if (token === null || token.length >= MIN_TOKEN_LENGTH) {
    const message = token === null ? 'The admin token is a generated one.' : 'The admin token is long enough.'
    return { check, severity: 'ok', message, cure: null }
  }
  return {
    check,
    severity: 'warn',
    message: `PAIDONCE_ADMIN_TOKEN is shorter than ${MIN_TOKEN_LENGTH} characters, so it could be guessed.`,
    cure: 'Set a random one, such as the output of "openssl rand -base64 32".',
  }
}

function addressFinding(host: string, adminPort: number | null): StoreFinding {
  const check = 'admin_address'
  if (LOOPBACK.test(host)) {
    const message = `The admin API listens on ${host}, which this machine alone reaches.`
    return { check, severity: 'ok', message, cure: null }
  }
  const where = adminPort === null ? 'on the port of the receiver' : 'on a port of its own'
  return {
    check,
    severity: 'warn',
    message: `The admin API listens on ${host}, ${where}: other machines reach it, and only its token keeps them out.`,
    cure: 'Let a firewall or the proxy in front pass the postback paths alone, and block /api and /metrics there.',
  }
}
