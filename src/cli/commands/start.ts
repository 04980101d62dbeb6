/**
 * `paidonce start`: the server, with a configuration or as a demo.
 *
 * @module
 */
import { startServer, type RunningServer } from '../../server/server.js'
import type { Settings } from '../../server/settings.js'
import { readSources, type CommandRun, type Context, type GlobalOptions } from '../context.js'
import { DEMO_NETWORK, DEMO_USER, demoConfig, setUpDemo } from '../demo.js'
import { EXIT, usageError } from '../failure.js'
import { describeDemo, describeServer } from '../start-text.js'
import { signFrom } from './sign.js'

export interface StartOptions extends GlobalOptions {
  readonly demo?: boolean
}

export const start: CommandRun<StartOptions> = async (context, { demo = false }) => {
  // Listening for signals begins before the server does, so that one during the start ends in order as well.
  const stop = stopSignal(context)
  const settings = demo ? await demoSettings(context) : await configuredSettings(context)
  const server = await startServer(settings)
  try {
    await announce(context, settings, server, demo)
    await stop
  } finally {
    await server.close()
  }
  return EXIT.fine
}

async function configuredSettings(context: Context): Promise<Settings> {
  const { settings } = await readSources(context)
  if (settings.configFile !== null) return settings
  throw usageError(
    `No configuration was found in ${context.io.cwd}.`,
    'Write one with "paidonce init --network NAME --profile PROFILE", name one with --config, or try the demo with "paidonce start --demo".',
  )
}

async function demoSettings(context: Context): Promise<Settings> {
  const { cwd } = context.io
  const { settings: found } = await readSources(context)
  if (found.configFile !== null) {
    throw usageError(
      `The demo makes its own configuration, but ${found.configFile} was found.`,
      'Start without --demo to use it, or start the demo in another folder.',
    )
  }
  await setUpDemo(cwd)
  const { settings } = await readSources(context, demoConfig(cwd))
  return settings
}

async function announce(
  { out }: Context,
  settings: Settings,
  server: RunningServer,
  demo: boolean,
): Promise<void> {
  const { url, adminUrl, adminToken, ledgerId, store } = server
  if (!demo) {
    if (out.json) out.printJson({ url, adminUrl, adminToken, ledgerId })
    else out.print(describeServer(settings, server))
    return
  }
  if (!store.foreignWallets) await store.createWallet(DEMO_USER)
  const signed = signFrom(settings, {
    network: DEMO_NETWORK,
    user: DEMO_USER,
    amount: '315',
    transaction: `demo-${new Date().toISOString().replace(/[-:.]/g, '')}`,
    base: url,
  })
  if (out.json)
    out.printJson({ url, adminUrl, adminToken, ledgerId, demo: { user: DEMO_USER, testUrl: signed.url } })
  else out.print(describeDemo(server, signed.url))
}

/** Resolves at the first signal; a second one ends the process at once. */
function stopSignal({ io, out }: Context): Promise<void> {
  return new Promise((resolve) => {
    let first: number | null = null
    // npm hands the terminal's Ctrl-C on to its child, which the terminal has told already: that is one signal.
    const echoMs = io.env['npm_lifecycle_event'] === undefined ? 0 : 300
    io.onSignal?.((signal) => {
      if (first !== null) {
        if (performance.now() - first >= echoMs) io.exit?.(EXIT.found)
        return
      }
      first = performance.now()
      out.note(`${signal}: calls in flight are answered first; a second signal ends at once.`)
      resolve()
    })
  })
}
