/**
 * Free TCP ports on loopback.
 *
 * @module
 */
import { createServer } from 'node:net'

/** Asks the system for a port that nobody listens on right now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => {
        resolve(port)
      })
    })
  })
}
