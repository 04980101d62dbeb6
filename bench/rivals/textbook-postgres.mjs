/**
 * The textbook handler on PostgreSQL, as articles about idempotent webhooks show it: one transaction for each postback,
 * the wallet's row locked first, the unique key asked by ON CONFLICT.
 *
 * Environment: PORT, DATABASE_URL, POOL_SIZE, SHARKLIO_POSTBACK_KEY.
 */
import express from 'express'
import pg from 'pg'
import { isSigned } from './signature.mjs'

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.POOL_SIZE),
})
pool.on('error', (error) => console.error(error))

const app = express()

app.get('/postback/sharklio', async (req, res) => {
  if (!isSigned(req.query)) return res.status(403).send('Forbidden')
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const found =
      req.query.status === '2' ? await reverse(client, req.query) : await credit(client, req.query)
    await client.query('COMMIT')
    res.status(found ? 200 : 404).send(found ? 'OK' : 'Unknown user')
  } catch (error) {
    await client.query('ROLLBACK')
    console.error(error)
    res.status(500).send('Error')
  } finally {
    client.release()
  }
})

async function credit(client, { tx, user, reward }) {
  const wallet = await client.query('SELECT balance FROM users WHERE id = $1 FOR UPDATE', [user])
  if (wallet.rowCount === 0) return false
  await book(client, tx, 'credit', user, reward)
  return true
}

/** Takes back what was credited; there is nothing to do where nothing was. */
async function reverse(client, { tx, user }) {
  await client.query('SELECT balance FROM users WHERE id = $1 FOR UPDATE', [user])
  const credited = await client.query(
    `SELECT user_id, amount FROM transactions WHERE transaction_id = $1 AND entry = 'credit'`,
    [tx],
  )
  if (credited.rowCount === 1) {
    await book(client, tx, 'reversal', credited.rows[0].user_id, `-${credited.rows[0].amount}`)
  }
  return true
}

async function book(client, tx, entry, user, amount) {
  const inserted = await client.query(
    `INSERT INTO transactions (transaction_id, entry, user_id, amount) VALUES ($1, $2, $3, $4)
     ON CONFLICT (transaction_id, entry) DO NOTHING`,
    [tx, entry, user, amount],
  )
  // A copy finds its key taken: the balance stays as it is.
  if (inserted.rowCount === 1) {
    await client.query('UPDATE users SET balance = balance + $1 WHERE id = $2', [amount, user])
  }
}

const server = app.listen(Number(process.env.PORT), '127.0.0.1')
process.once('SIGTERM', () => {
  server.close(() => pool.end())
  server.closeIdleConnections()
})
