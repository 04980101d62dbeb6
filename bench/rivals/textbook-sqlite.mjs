/**
 * The textbook handler on SQLite: better-sqlite3 in WAL mode, synchronous=FULL, one transaction for each postback.
 *
 * Environment: PORT, DATABASE_FILE, SHARKLIO_POSTBACK_KEY.
 */
import Database from 'better-sqlite3'
import express from 'express'
import { isSigned } from './signature.mjs'

const db = new Database(process.env.DATABASE_FILE)
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')

const walletOf = db.prepare('SELECT balance FROM users WHERE id = ?')
const creditOf = db.prepare(
  `SELECT user_id, amount FROM transactions WHERE transaction_id = ? AND entry = 'credit'`,
)
const insert = db.prepare(
  `INSERT INTO transactions (transaction_id, entry, user_id, amount) VALUES (?, ?, ?, ?)
   ON CONFLICT (transaction_id, entry) DO NOTHING`,
)
const addTo = db.prepare('UPDATE users SET balance = balance + ? WHERE id = ?')

const credit = db.transaction(({ tx, user, reward }) => {
  if (walletOf.get(user) === undefined) return false
  book(tx, 'credit', user, Number(reward))
  return true
})

/** Takes back what was credited; there is nothing to do where nothing was. */
const reverse = db.transaction(({ tx }) => {
  const credited = creditOf.get(tx)
  if (credited !== undefined) book(tx, 'reversal', credited.user_id, -credited.amount)
  return true
})

function book(tx, entry, user, amount) {
  // A copy finds its key taken: the balance stays as it is.
  if (insert.run(tx, entry, user, amount).changes === 1) addTo.run(amount, user)
}

const app = express()

app.get('/postback/sharklio', (req, res) => {
  if (!isSigned(req.query)) return res.status(403).send('Forbidden')
  const found = req.query.status === '2' ? reverse.immediate(req.query) : credit.immediate(req.query)
  res.status(found ? 200 : 404).send(found ? 'OK' : 'Unknown user')
})

const server = app.listen(Number(process.env.PORT), '127.0.0.1')
process.once('SIGTERM', () => {
  server.close(() => db.close())
  server.closeIdleConnections()
})
