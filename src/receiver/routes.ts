/**
 * Which network a request target reaches.
 *
 * @module
 */
import type { Network } from '../postback/network.js'

export interface Routes {
  /** The network called, or null. */
  find(target: string): Network | null
}

/** Exact extra paths stand before `{basePath}/{network}`; one trailing slash makes no difference and never a redirect. */
export function compileRoutes(networks: ReadonlyMap<string, Network>, basePath: string): Routes {
  const byPath = new Map<string, Network>()
  for (const network of networks.values()) {
    byPath.set(`${basePath}/${network.name}`, network)
  }
  for (const network of networks.values()) {
    for (const path of network.paths) byPath.set(path, network)
  }
  return {
    find(target) {
      const path = pathOf(target)
      const found = byPath.get(path)
      if (found !== undefined || !path.endsWith('/')) return found ?? null
      return byPath.get(path.slice(0, -1)) ?? null
    },
  }
}

/** The name that was called, for a log: the last part of the path, short and printable. */
export function calledName(target: string): string {
  const last = pathOf(target).split('/').filter(Boolean).at(-1) ?? ''
  return last.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 64)
}

function pathOf(target: string): string {
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}
