/**
 * Adds up the summaries of several test runs and prints the one line that says how they ended.
 * Exits with 1 where something failed, was skipped under REQUIRE_ALL, or where no test ran.
 */
import { existsSync, readFileSync } from 'node:fs'

const total = { passed: 0, failed: 0, skipped: 0 }
for (const file of process.argv.slice(2)) {
  if (!existsSync(file)) {
    total.failed += 1
    continue
  }
  const summary = JSON.parse(readFileSync(file, 'utf8'))
  for (const name of Object.keys(total)) total[name] += summary[name]
}
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
console.log(`${total.passed} passed, ${total.failed} failed${skipped}`)
const required = process.env.REQUIRE_ALL === '1'
if (total.failed > 0 || total.passed === 0 || (required && total.skipped > 0)) process.exitCode = 1
