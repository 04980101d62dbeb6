/**
 * Corrections by the operator, idempotent by their key.
 *
 * @module
 */
import type { Hono } from 'hono'
import { PaidonceError } from '../../errors.js'
import type { AdjustmentResult } from '../../ledger/store.js'
import { formatMinor } from '../../money.js'
import type { AdminCall, AdminContext, AdminEnv } from '../admin-context.js'
import { entryView } from '../api-views.js'
import { badRequest } from '../api-error.js'
import {
  checkedId,
  pathId,
  readAmount,
  readBoolean,
  readJson,
  readQuery,
  readReason,
} from '../request-values.js'
import { unknownUser } from './wallets.js'

export function addAdjustmentRoutes(app: Hono<AdminEnv>, { store, logger }: AdminContext): void {
  app.post('/api/v1/wallets/:user/adjustments', async (call) => {
    readQuery(call, [])
    const user = pathId(call, 1, 'user')
    const body = await readJson(call, ['key', 'amount', 'reason', 'overdraw'])
    const adjustment = {
      key: checkedId(body['key'], 'key'),
      user,
      amount: readAmount(body['amount'], 'amount', store.amountScale),
      reason: readReason(body['reason'], 'reason'),
      actor: readActor(call),
      overdraw: readBoolean(body['overdraw'], 'overdraw') ?? false,
    }
    const result = await store.adjust(adjustment)
    if (!('entry' in result)) throw refusal(result.kind, user, adjustment.key, store.foreignWallets)
    const { entry } = result
    if (result.kind === 'booked') logger.info({ actor: adjustment.actor }, 'An adjustment was booked.')
    const scale = store.amountScale
    return call.json(
      {
        key: adjustment.key,
        user,
        amount: formatMinor(entry.amount, scale),
        reason: entry.reason,
        balanceAfter: entry.balanceAfter === null ? null : formatMinor(entry.balanceAfter, scale),
        entry: entryView(entry, scale),
      },
      result.kind === 'booked' ? 201 : 200,
    )
  })
}

function refusal(
  kind: Exclude<AdjustmentResult['kind'], 'booked' | 'repeated'>,
  user: string,
  key: string,
  foreign: boolean,
): PaidonceError {
  switch (kind) {
    case 'unknown_user':
      return unknownUser(user, foreign)
    case 'key_conflict':
      return new PaidonceError(
        'key_conflict',
        `Key ${JSON.stringify(key)} was used for another adjustment.`,
        {
          hint: 'Send a new key, or the same user and amount as before.',
        },
      )
    case 'insufficient_balance':
      return new PaidonceError('insufficient_balance', 'The balance would fall below zero.', {
        hint: 'Take away less, or send "overdraw": true.',
      })
    case 'balance_limit':
      return new PaidonceError('balance_limit', 'The balance would leave the range that can be stored.', {
        hint: 'Check the amount and the balance.',
      })
  }
}

/** Who did it, as the caller says; the token alone says only that somebody was allowed to. */
function readActor(call: AdminCall): string {
  const header = call.req.header('x-paidonce-actor')
  if (header === undefined) return 'api'
  // Headers arrive one character a byte; names outside ASCII are sent as UTF-8.
  const actor = Buffer.from(header, 'latin1').toString('utf8')
  if (actor.trim() === '' || Buffer.byteLength(actor) > 100 || actor.includes('\ufffd')) {
    throw badRequest('X-Paidonce-Actor', 'must be 1 to 100 bytes of UTF-8')
  }
  return checkedId(actor, 'X-Paidonce-Actor')
}
