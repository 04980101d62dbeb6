/**
 * What an operator should do about each reason code that the inbox and the ledger keep.
 *
 * @module
 */

/**
 * Tells what to do about a reason, or says that nothing is known to do. It never guesses.
 *
 * @param reason a stable code, optionally followed by `: detail`; an outcome where a call has no reason
 */
export function explainReason(reason: string): string {
  return adviceFor(reason) ?? `No advice is kept for the reason "${codeOf(reason)}".`
}

/** The advice, or null where none is kept. */
export function adviceFor(reason: string): string | null {
  const code = codeOf(reason)
  if (Object.hasOwn(ADVICE, code)) return ADVICE[code] ?? null
  return ENDINGS.find(([ending]) => code.endsWith(ending))?.[1] ?? null
}

function codeOf(reason: string): string {
  return reason.split(':', 1)[0] ?? ''
}

const SECRET_OR_CALL =
  'Compare the secret of this network in the configuration with the one that the network shows, then what was signed with the call as the network sent it: a proxy, a redirect or a changed parameter on the way breaks a signature. Once it is put right, run the rejected calls again with "paidonce inbox reprocess --outcome bad_signature --apply".'
const NOT_BOOKED = 'Nothing was booked, and the answer asks the network to send again'
const SENDS_AGAIN = `${NOT_BOOKED}; if it has given up, run the kept calls again with "paidonce inbox reprocess --outcome overloaded --apply".`
const FAILED_AGAIN = `${NOT_BOOKED}; if it has given up, run the kept calls again with "paidonce inbox reprocess --outcome failed --apply".`
const NOTHING_TO_DO = 'Nothing has to be done.'

const ADVICE: Readonly<Record<string, string>> = {
  // A user without a wallet, and other claims that can still be booked.
  unknown_user:
    'Create the wallet if the user is yours (with own wallets: "paidonce wallets create USER"), then run "paidonce inbox reprocess --outcome unknown_user --outcome held --apply"; if the id is not one of yours, check which id your app hands to the network.',
  balance_limit:
    'The balance would leave the range that the database can hold: correct the wallet with "paidonce wallets adjust", then run "paidonce inbox reprocess --outcome held --apply".',
  held: 'This call waits for a person: where a wallet or the configuration kept it from being booked, put that right and run "paidonce inbox reprocess --outcome held --apply"; else settle it with "paidonce wallets adjust". What is settled otherwise is closed with "paidonce inbox resolve".',
  amount_sign:
    'The sign of the amount contradicts the status: ask the network what this call means, then resolve it with "paidonce inbox resolve".',
  status_held:
    'This status needs a person: look at the network\'s report, adjust the wallet if need be, and resolve it with "paidonce inbox resolve".',
  // Decisions of the ledger.
  reversal_without_credit:
    'The network took back a transaction that was never paid here. Nothing has to be done unless the credit had been paid by another system: then take it away with "paidonce wallets adjust".',
  reversed_before_credit:
    'The network took this transaction back before its credit arrived; if it is to be paid after all, ask the network and use "paidonce wallets adjust".',
  credit_was_refused: `The credit was declined and never paid, so there is nothing to take back. ${NOTHING_TO_DO}`,
  refused_before: 'The first call was declined for good, and so is every copy of it.',
  wallet_gone:
    'The wallet of the stored credit no longer exists, so no balance could be taken back: settle it outside if the user still owes it.',
  other_user:
    'The same transaction id came for another user. Ask the network which one is right; the first one stays paid. Resolve it with "paidonce inbox resolve".',
  other_amount:
    'The same transaction id came with another amount. Ask the network which one is right; the first one stays paid, and a difference is booked with "paidonce wallets adjust". Resolve it with "paidonce inbox resolve".',
  other_unit:
    'The same transaction id came in another unit. Ask the network which one is right, and resolve it with "paidonce inbox resolve".',
  imported: `It had been paid before Paidonce took over. ${NOTHING_TO_DO}`,
  imported_other_amount:
    "It had been paid before Paidonce took over, with another amount than the network says now: compare the old table with the network's report.",
  reversal_names_other_user:
    'The reversal named another user than the stored credit; the stored user was charged. Ask the network which one is right.',
  reversal_names_other_amount:
    'The reversal named another amount than the stored credit; the whole stored credit was taken back. Ask the network whether it meant a part.',
  test_recorded_only: `Tests of this network are recorded and never booked (setting "tests"). ${NOTHING_TO_DO}`,
  test: `Tests of this network are recorded and never booked (setting "tests"). ${NOTHING_TO_DO}`,
  settled_before: `Running it again changed nothing, because it had been settled before. ${NOTHING_TO_DO}`,
  network_missing:
    'No configured network has this name: add it to the configuration, or name it in "formerly" of the network that took its place.',
  // Signature and sender.
  signature_mismatch: SECRET_OR_CALL,
  token_mismatch: SECRET_OR_CALL,
  bad_signature: SECRET_OR_CALL,
  signature_not_readable:
    'The signature is cut or of another kind than the profile says: check the network\'s profile and the postback URL that is set there. Once it is put right, "paidonce inbox reprocess --outcome bad_signature --apply" runs the rejected calls again.',
  text_after_signature:
    'Parameters stand after the signature, where nothing signs them: remove them from the postback URL at the network. What was rejected so stays rejected; ask the network to send it again.',
  ip_not_allowed:
    'If the address is one of the network\'s, add it to "allowedIps" of this network; behind a proxy, check "trustProxy". Then run the rejected calls again with "paidonce inbox reprocess --outcome ip_not_allowed --apply".',
  absolute_request_target: 'A caller sent a whole URL as its request target; no network does that.',
  // Calls that could not be read.
  missing_parameter: 'Add the named parameter to the postback URL at the network.',
  repeated_parameter:
    'The named parameter stands twice in the call: remove one of them from the postback URL at the network.',
  ambiguous_parameter: 'The named parameter can be read in two ways: check the postback URL at the network.',
  not_a_value: 'The named parameter holds a list or an object: check the postback URL at the network.',
  json_unreadable: "The body is no JSON: check the network's profile and what a proxy does with bodies.",
  too_many_decimals:
    'The amount has more decimals than "amountScale" keeps: set "rounding" for this network, then run "paidonce inbox reprocess --outcome malformed --apply"; or let the network send fewer decimals.',
  amount_not_an_amount:
    'The amount is no plain decimal such as "12" or "12.5": check the amount\'s macro in the postback URL at the network.',
  amount_negative:
    'The amount is negative, and amounts of this network have no sign: ask the network what this call means; if it marks reversals by a sign, its profile needs another "amountSign".',
  amount_too_large:
    'The amount is beyond what one entry can hold: check its macro and the rate of this network.',
  status_unknown:
    "The profile knows no such status: check the status macro, or the network's manual for new values.",
  status_ignored: `This status asks for no booking. ${NOTHING_TO_DO}`,
  zero_amount: `An amount of zero books nothing and leaves the transaction id unused. ${NOTHING_TO_DO}`,
  ignored: `This call asks for no booking. ${NOTHING_TO_DO}`,
  transaction_id_pattern:
    'The transaction id does not fit "idPattern" of this network: correct the pattern, or treat the call as forged.',
  store_refused:
    'The database refused this data: see the server\'s log at that time, and "paidonce doctor" for the tables.',
  // Trouble that passes.
  overloaded: SENDS_AGAIN,
  queue_full: SENDS_AGAIN,
  deadline: SENDS_AGAIN,
  not_started: `The server had not started yet; see its log at that time. ${SENDS_AGAIN}`,
  failed: FAILED_AGAIN,
  internal: `${FAILED_AGAIN} The server's log has the error of that time.`,
  commit_unknown: `The database's answer to a commit was lost, so this call may or may not have been booked when it was answered. ${FAILED_AGAIN}`,
}

/** Codes that begin with the name of a parameter's role. */
const ENDINGS: readonly (readonly [string, string])[] = [
  [
    '_unexpanded_macro',
    'The network sent the name of a macro instead of its value: correct the macro in the postback URL at the network.',
  ],
  [
    '_placeholder',
    'The network, or a script before it, had no id to send and wrote a word instead: ask the network what this conversion is.',
  ],
  ['_not_utf8', "The id's bytes are not UTF-8: ask the network which encoding it sends."],
  ['_empty', 'The id is empty: check its macro in the postback URL at the network.'],
  ['_blank', 'The id is nothing but white space: check its macro in the postback URL at the network.'],
  ['_too_long', 'The id is longer than 255 bytes: check which id your app hands to the network.'],
  ['_control_character', 'The id holds control characters: check which id your app hands to the network.'],
]
