/**
 * The textbook handler on MariaDB and MySQL: one transaction for each postback, the wallet's row locked first, the
 * unique key asked by INSERT IGNORE.
 *
 * Environment: PORT, DATABASE_URL, POOL_SIZE, SHARKLIO_POSTBACK_KEY.
 */
import express from 'express'
import mysql from 'mysql2/promise'
import { isSigned } from './signature.mjs'

const pool = mysql.createPool({
  uri: process.env.DATABASE_URL,
  connectionLimit: Number(process.env.POOL_SIZE),
})

const app = express()

app.get('/postback/sharklio', async (req, res) => {
  if (!isSigned(req.query)) return res.status(403).send('Forbidden')
  const connection = await pool.getConnection()
  try {
    await connection.beginTransaction()
    const found =
      req.query.status === '2' ? await reverse(connection, req.query) : await credit(connection, req.query)
    await connection.commit()
    res.status(found ? 200 : 404).send(found ? 'OK' : 'Unknown user')
  } catch (error) {
    await connection.rollback()
    console.error(error)
    res.status(500).send('Error')
  } finally {
    connection.release()
  }
})

async function credit(connection, { tx, user, reward }) {
  const [wallets] = await connection.query('SELECT balance FROM users WHERE id = ? FOR UPDATE', [user])
  if (wallets.length === 0) return false
  await book(connection, tx, 'credit', user, reward)
  return true
}

/** Takes back what was credited; there is nothing to do where nothing was. */
async function reverse(connection, { tx, user }) {
  await connection.query('SELECT balance FROM users WHERE id = ? FOR UPDATE', [user])
  const [credited] = await connection.query(
    `SELECT user_id, amount FROM transactions WHERE transaction_id = ? AND entry = 'credit'`,
    [tx],
  )
  if (credited.length === 1) {
    await book(connection, tx, 'reversal', credited[0].user_id, `-${credited[0].amount}`)
  }
  return true
}

async function book(connection, tx, entry, user, amount) {
  const [inserted] = await connection.query(
    'INSERT IGNORE INTO transactions (transaction_id, entry, user_id, amount) VALUES (?, ?, ?, ?)',
    [tx, entry, user, amount],
  )
  // A copy finds its key taken: the balance stays as it is.
  if (inserted.affectedRows === 1) {
    await connection.query('UPDATE users SET balance = balance + ? WHERE id = ?', [amount, user])
  }
}

const server = app.listen(Number(process.env.PORT), '127.0.0.1')
process.once('SIGTERM', () => {
  server.close(() => pool.end())
  server.closeIdleConnections()
})
