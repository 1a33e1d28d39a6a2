/**
 * Types the set-up of docs/reference/queues.md into a shell, in a network of its own with nothing but loopback, so that its ports
 * are free: argv has the folder, the lines that start everything, and the lines that start a run. Prints what the run prints, and the
 * status of the installation, as JSON.
 */
import { execFileSync, spawn } from 'node:child_process'
import { start } from '../../scripts/postgres.mjs'

const [folder = '', lines = '', run = ''] = process.argv.slice(2)
const limitMs = 60_000

execFileSync('ip', ['link', 'set', 'lo', 'up'])
const cluster = await start({ port: 5432 })
// A terminal stays open after the last line.
const shell = spawn('sh', ['-c', `${lines}\nwait`], {
  cwd: folder,
  stdio: ['ignore', 2, 2],
  detached: true,
})
const sh = (/** @type {string} */ text) => execFileSync('sh', ['-c', text], { cwd: folder, encoding: 'utf8' })
try {
  const until = Date.now() + limitMs
  while (!isServed()) {
    if (Date.now() > until) throw new Error('Nothing serves on port 3003')
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const printed = sh(run)
  const status = JSON.parse(sh('curl -s http://127.0.0.1:3003/api/v1/flex/status'))
  console.log(JSON.stringify({ printed, status }))
} finally {
  if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL')
  cluster.stop()
}

function isServed() {
  try {
    sh('curl -sf http://127.0.0.1:3003/livez')
    return true
  } catch {
    return false
  }
}
