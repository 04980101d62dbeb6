/**
 * The proof that credits stand in the ledger as a group was planned: counted by the statement that writes the group.
 *
 * @module
 */
import type { Claim } from '../../ledger/types.js'
import type { KnownCredit } from '../guess.js'
import type { TableNames } from '../table-names.js'
import { rowSource, type Column } from './columns.js'
import { amount, text } from './rows.js'

const known = (
  name: string,
  type: string,
  value: (claim: Claim, scale: number) => string | null,
): Column<KnownCredit> => ({ name, type, value: ({ claim }, scale) => value(claim, scale) })

export const KNOWN_COLUMNS: readonly Column<KnownCredit>[] = [
  known('transaction_key', 'text', (claim) => text(claim.transactionKey)),
  known('id_space', 'text', (claim) => text(claim.idSpace)),
  known('user_id', 'text', (claim) => text(claim.user)),
  known('amount', 'numeric', (claim, scale) => amount(claim.amount, scale)),
  known('received_amount', 'text', (claim) => text(claim.receivedAmount)),
  known('unit', 'text', (claim) => text(claim.unit)),
  { name: 'postback_id', type: 'uuid', value: ({ postbackId }) => text(postbackId) },
]

/** How many of them stand as they were planned, and how many should; parameters are counted from `first`. */
export function countKnown(
  names: TableNames,
  first: number,
): { readonly found: string; readonly wanted: string } {
  const { from, select } = rowSource(KNOWN_COLUMNS, first, 'k')
  return {
    // A look-up of the unique key for each, as in the statement that reads them.
    found: `(select count(*) from (select ${select} from ${from}) k cross join lateral (
    select from ${names.table('ledger')} l
    where l.id_space = k.id_space and l.transaction_key = k.transaction_key and l.entry = 'credit'
      and l.user_id = k.user_id and l.amount = k.amount and l.decision = 'booked' and not l.imported
      and l.received_amount is not distinct from k.received_amount and l.unit is not distinct from k.unit
      and l.postback_id is distinct from k.postback_id
    limit 1) l)`,
    wanted: `cardinality($${first}::text[])`,
  }
}
