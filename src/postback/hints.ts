/**
 * One sentence for each reason that a person can do something about.
 *
 * @module
 */

/** What to do about a reason code, or null where the code says it all. */
export function hintFor(reason: string | null): string | null {
  if (reason === null) return null
  const code = reason.split(':', 1)[0] ?? ''
  for (const [ending, hint] of HINTS) if (code.endsWith(ending)) return hint
  return null
}

const HINTS: readonly (readonly [string, string])[] = [
  [
    '_unexpanded_macro',
    'The network sent the name of a macro instead of its value: correct the macro in the postback URL at the network.',
  ],
  [
    '_placeholder',
    'The network or a script before it had no id to send: ask the network what this conversion is.',
  ],
  [
    'signature_mismatch',
    'The secret differs from the one at the network, or something on the way changed the call: compare the secret, then what was signed.',
  ],
  ['signature_not_readable', 'The signature is cut, or of another kind than the profile says.'],
  ['missing_parameter', 'Add the parameter to the postback URL at the network.'],
  [
    'repeated_parameter',
    'A parameter stands twice in the postback URL at the network, or somebody added one.',
  ],
  [
    'text_after_signature',
    'What follows the signature is not signed: the signature must stand last in the URL.',
  ],
  [
    'ip_not_allowed',
    'Compare the address with the list of the network, and trustProxy with the proxies before this server.',
  ],
  ['amount_sign', 'The sign contradicts the rule for this network: look at the call and book it by hand.'],
  [
    'amount_negative',
    'Amounts of this network have no sign: look at the call, and at "amountSign" of its profile.',
  ],
  ['too_many_decimals', 'Raise amountScale before the first start, or choose a rounding for this network.'],
  [
    'amount_not_an_amount',
    'Amounts are plain decimals such as "12" or "12.5", without sign, space or exponent.',
  ],
  ['transaction_id_pattern', 'The id does not fit the idPattern of this network.'],
]
