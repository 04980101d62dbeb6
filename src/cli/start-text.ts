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
import { networkAddress, pathAddresses } from './network-tools.js'
import { shellQuote } from './shell-word.js'
import { alignPairs } from './table.js'

type Listening = Pick<RunningServer, 'url' | 'adminUrl' | 'adminToken' | 'adminTokenOrigin' | 'ledgerId'>

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
    keptTokenLine(server),
    networks.length === 0 ? 'No network is configured.' : 'The URL to paste at each network:',
    alignPairs(
      networks.flatMap(([name, network]) =>
        addressesToPaste(name, network, base).map((url, index) => [index === 0 ? name : '', url] as const),
      ),
    ),
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** The demo's addresses and two lines that work as pasted into a shell. */
export function describeDemo(server: Listening, testUrl: string): string {
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
      ...tokenLine(server),
      ['wallet', DEMO_USER],
    ]),
    ...(server.adminTokenOrigin === 'kept' ? [keptTokenLine(server)] : []),
    '',
    'A signed test postback (send it twice: it is paid once):',
    `curl ${shellQuote(testUrl)}`,
    '',
    'Look at the wallet:',
    `curl -H ${authorization} ${shellQuote(wallet)}`,
  ].join('\n')
}

/** The address to paste at a network, with the network's own macros, and after it those of its further paths. */
export function addressesToPaste(name: string, network: NetworkSettings, base: string): string[] {
  const key = `networks.${name}`
  const profile = renameFields(
    lookUpProfile(network.profile, `${key}.profile`),
    network.params,
    `${key}.params`,
  )
  return [networkAddress(name, network, base), ...pathAddresses(network, base)].map((address) =>
    pasteUrl(profile, address),
  )
}

function tokenLine({ adminToken }: Listening): (readonly [string, string])[] {
  return adminToken === null ? [] : [['admin token', `${adminToken} (shown only now; keep it)`]]
}

/** Of a token that was generated earlier only the hash is kept, so that nobody can show it again. */
function keptTokenLine({ adminTokenOrigin }: Listening): string {
  return adminTokenOrigin === 'kept'
    ? 'admin token: as printed at the first start; to set another one, set PAIDONCE_ADMIN_TOKEN'
    : ''
}

function ledgerLine({ ledgerId }: Listening): (readonly [string, string])[] {
  return ledgerId === null ? [] : [['ledger id', ledgerId]]
}
