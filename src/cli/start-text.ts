/**
 * What a started server tells its operator.
 *
 * @module
 */
import { lookUpProfile } from '../catalogue/catalogue.js'
import { pasteUrl, renameFields } from '../postback/params.js'
import type { RunningServer } from '../server/server.js'
import type { NetworkSettings, Settings } from '../server/settings.js'
import { DEMO_NETWORK, DEMO_USER } from './demo.js'
import { networkAddress } from './network-tools.js'
import { alignPairs } from './table.js'

type Listening = Pick<RunningServer, 'url' | 'adminUrl' | 'adminToken' | 'ledgerId'>

/** The addresses, the token where it is new, and the URL to paste at each network. */
export function describeServer(settings: Settings, server: Listening): string {
  const base = settings.publicUrl ?? server.url
  const networks = Object.entries(settings.networks)
  return [
    'Paidonce is listening.',
    alignPairs([
      ['receiver', `${server.url}/postback/{network}`],
      ['admin API', `${server.adminUrl}/api/v1`],
      ...tokenLine(server),
      ...ledgerLine(server),
    ]),
    networks.length === 0 ? 'No network is configured.' : 'The URL to paste at each network:',
    alignPairs(networks.map(([name, network]) => [name, addressToPaste(name, network, base)])),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** The demo's addresses and two lines that work as pasted into a shell. */
export function describeDemo(server: Listening, testUrl: string, tokenGiven: boolean): string {
  const wallet = `${server.adminUrl}/api/v1/wallets/${DEMO_USER}`
  // A token that is not shown has to come from the reader's environment, where only double quotes let it through.
  const authorization =
    server.adminToken === null
      ? '"Authorization: Bearer $PAIDONCE_ADMIN_TOKEN"'
      : shellQuote(`Authorization: Bearer ${server.adminToken}`)
  return [
    'Paidonce runs as a demo; everything it keeps is in ./data.',
    alignPairs([
      ['receiver', `${server.url}/postback/${DEMO_NETWORK}`],
      ['admin API', `${server.adminUrl}/api/v1`],
      ...(server.adminToken === null && !tokenGiven
        ? [['admin token', 'as printed at the first start'] as const]
        : tokenLine(server)),
      ['wallet', DEMO_USER],
    ]),
    '',
    'A signed test postback (send it twice: it is paid once):',
    `curl ${shellQuote(testUrl)}`,
    '',
    'Look at the wallet:',
    `curl -H ${authorization} ${shellQuote(wallet)}`,
  ].join('\n')
}

/** The address to paste at a network, with the network's own macros. */
export function addressToPaste(name: string, network: NetworkSettings, base: string): string {
  const key = `networks.${name}`
  const profile = renameFields(
    lookUpProfile(network.profile, `${key}.profile`),
    network.params,
    `${key}.params`,
  )
  return pasteUrl(profile, networkAddress(name, network, base))
}

function tokenLine({ adminToken }: Listening): (readonly [string, string])[] {
  return adminToken === null ? [] : [['admin token', `${adminToken} (shown only now; keep it)`]]
}

function ledgerLine({ ledgerId }: Listening): (readonly [string, string])[] {
  return ledgerId === null ? [] : [['ledger id', ledgerId]]
}

/** Quotes a text for a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
