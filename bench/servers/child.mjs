/**
 * The server that is measured, in a process of its own: a built package on a SQLite file or a PostgreSQL database, in
 * development mode, with agents that take a while. It answers the parent's questions about itself. Called with the folder
 * of the package and, for PostgreSQL, the address of an empty database.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { agentMs } from './plan.mjs'
import { answerQuestions } from './questions.mjs'

const [root, address] = process.argv.slice(2)
const { exports: entries } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const load = (entry) => import(pathToFileURL(join(root, entries[entry].default)).href)
const { createApp, defineCapability } = await load('.')
const { createServer } = await load('./server')

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const agent = (capabilityId, run) =>
  defineCapability({
    capabilityId,
    inputContract: { type: 'object' },
    outputContract: text,
    idempotent: true,
    run,
  })

async function openStore() {
  if (address !== undefined) return (await load('./stores/postgres')).openPostgresStore({ url: address })
  const folder = mkdtempSync(join(tmpdir(), 'proviso-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const { openSqliteStore } = await load('./stores/sqlite')
  return openSqliteStore({ path: join(folder, 'runs.db'), synchronous: 'FULL' })
}

const app = await createApp({
  store: await openStore(),
  providers: [],
  // As many attempts at once as the load wants: what is measured is the server, not a configured limit.
  limits: { process: 2_000 },
  capabilities: [
    agent('agent', async () => {
      await new Promise((resolve) => setTimeout(resolve, agentMs))
      return { text: 'Tea' }
    }),
    agent(
      'never',
      (_inputs, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
    ),
  ],
})
const server = createServer({ app }, { auth: { open: true }, limits: { streams: 10_000, runs: 10_000 } })
const url = await server.listen({ host: '127.0.0.1', port: 0 })

answerQuestions(url, () => ({ streams: server.streams }))
