// @ts-check
/** A server with the console in a process of its own, to be killed: `node serve-console.mjs STORE PORT GATE`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../../scripts/setup.mjs'

const [store = '', port = '0', gate = ''] = process.argv.slice(2)
/** @param {string} path */
const load = (path) => import(pathToFileURL(join(root, 'dist', path)).href)
const { createApp, defineCapability } = await load('index.js')
const { createServer } = await load('server/index.js')

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const work = { inputContract: { type: 'object' }, outputContract: text, idempotent: true }
const capabilities = [
  defineCapability({ ...work, capabilityId: 'first', run: () => ({ text: 'done before' }) }),
  defineCapability({
    ...work,
    capabilityId: 'second',
    // Under way until the file is there: the process is killed meanwhile.
    async run() {
      while (!existsSync(gate)) await new Promise((resolve) => setTimeout(resolve, 50))
      return { text: 'done after' }
    },
  }),
]
const app = await createApp({ store, capabilities, leaseMs: 2_000 })
const server = createServer(
  { app },
  { auth: { token: 'token-of-the-console-tests' }, console: { folder: join(root, 'dist', 'ui') } },
)
console.log(`serves on ${await server.listen({ port: Number(port) })}`)
