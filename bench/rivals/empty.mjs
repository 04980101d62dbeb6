/**
 * The ceiling: a server that only answers. Nothing that answers over HTTP from one Node.js process can be faster.
 *
 * Environment: PORT.
 */
import { createServer } from 'node:http'

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'content-length': 2 })
  response.end('OK')
})
server.listen(Number(process.env.PORT), '127.0.0.1')
process.once('SIGTERM', () => {
  server.close()
  server.closeIdleConnections()
})
