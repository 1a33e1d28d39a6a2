// @ts-check
/**
 * A server of the built package on a SQLite file in this process, and in another one 500 clients of one tenant and one client
 * of another. Prints what each tenant got, as JSON. Limits are the defaults; only the rate per token is off, so that the
 * queues decide.
 */
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [, , role = 'clients', seconds = '10', clients = '500'] = process.argv

if (role === 'server') await serve()
else await load()

async function serve() {
  const { createApp, defineCapability } = await import('../../dist/index.js')
  const { createServer, createToken } = await import('../../dist/server/index.js')
  const folder = mkdtempSync(join(tmpdir(), 'proviso-tenants-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const write = defineCapability({
    capabilityId: 'write',
    inputContract: { type: 'object' },
    outputContract: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    run: async () => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return { text: 'Tea' }
    },
  })
  const app = await createApp({ store: `sqlite:${join(folder, 'runs.db')}`, capabilities: [write], env: {} })
  const server = createServer({ app }, { limits: { rate: false } })
  const { tokens } = app.store.records
  const create = (/** @type {string} */ tenant) =>
    createToken(tokens, { tenant, role: 'caller', name: tenant })
  const [many, one] = [await create('many'), await create('one')]
  const url = await server.listen({ port: 0 })
  process.on('disconnect', () => process.exit())
  process.send?.({ url, many: many.token, one: one.token })
}

async function load() {
  const child = fork(fileURLToPath(new URL(import.meta.url)), ['server'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  /** @type {{ url: string, many: string, one: string }} */
  const { url, many, one } = await new Promise((resolve) =>
    child.once('message', (found) => resolve(/** @type {any} */ (found))),
  )
  const agent = new Agent({ keepAlive: true })
  // What is answered before both sides are compiled and connected does not count.
  const counts = performance.now() + 3_000
  const end = counts + Number(seconds) * 1_000
  const body = JSON.stringify({
    envelope: {
      objective: 'Tea',
      outputContract: {
        schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      },
    },
    draft: { nodes: [{ id: 'write', capabilityId: 'write' }] },
  })
  /** @returns {Promise<{ status: number, ms: number, retryAfter: number }>} */
  const start = (/** @type {string} */ token) =>
    new Promise((resolve, reject) => {
      const begun = performance.now()
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }
      request(`${url}/api/v1/flex/runs`, { method: 'POST', agent, headers }, (response) => {
        const ms = performance.now() - begun
        response.resume().on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            ms,
            retryAfter: Number(response.headers['retry-after'] ?? 0),
          }),
        )
      })
        .on('error', reject)
        .end(body)
    })
  const client = async (/** @type {string} */ token, /** @type {number} */ pauseMs) => {
    const answers = []
    while (performance.now() < end) {
      const answer = await start(token)
      if (performance.now() - answer.ms >= counts) answers.push(answer)
      // A client that heeds the answer.
      const wait = answer.retryAfter * 1_000 || pauseMs
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    }
    return answers
  }
  const lone = client(one, 50)
  const crowd = (await Promise.all(Array.from({ length: Number(clients) }, () => client(many, 0)))).flat()
  const report = { many: summary(crowd), one: summary(await lone) }
  child.disconnect()
  agent.destroy()
  console.log(JSON.stringify(report))
}

/** @param {readonly { status: number, ms: number, retryAfter: number }[]} answers */
function summary(answers) {
  const accepted = answers
    .filter(({ status }) => status === 202)
    .map(({ ms }) => ms)
    .sort((a, b) => a - b)
  const at = (/** @type {number} */ share) =>
    Math.round(accepted[Math.floor(accepted.length * share)] ?? Number.NaN)
  /** @type {Record<string, number>} */
  const statuses = {}
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1
  const unhinted = answers.filter(({ status, retryAfter }) => status !== 202 && retryAfter < 1).length
  return { statuses, unhinted, p50: at(0.5), p99: at(0.99), max: at(0.999999) }
}
