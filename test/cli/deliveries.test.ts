/** `proviso deliveries`: what was sent to webhooks, from a store that a server may have open. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type App, createApp, defineCapability } from '../../src/index.ts'
import { runCommand } from '../support.ts'
import { pathInFolder } from './run-support.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const runIds = ['r1', 'r2', 'r3', 'r4', 'r5']
let app: App
let store: string
const answers = [204, 410]
const receiver = createServer((request, response) => {
  request.resume()
  response.writeHead(answers.shift() ?? 204).end()
})

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  store = `sqlite:${pathInFolder('deliveries.db')}`
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  app = await createApp({
    store,
    http: { allowLoopback: true },
    webhooks: { endpoints: [{ url, secret: 'the secret of these webhooks' }], onGiveUp: () => {} },
    capabilities: [
      defineCapability({
        id: 'write',
        input: { type: 'object' },
        output: text,
        run: () => ({ text: 'Tea' }),
      }),
    ],
  })
  for (const runId of runIds) {
    await app.run({ objective: 'One line', output: text }, { runId })
    // One after the other, so that each gets the answer that is meant for it.
    await vi.waitUntil(async () => (await list()).every(({ status }) => status !== 'pending'), {
      timeout: 20_000,
    })
  }
})
afterAll(async () => {
  await app.close()
  receiver.closeAllConnections()
  receiver.close()
})

interface Listed {
  readonly deliveryId: string
  readonly runId: string
  readonly status: string
  readonly webhookId: string
}
const command = (...args: string[]) => runCommand(['deliveries', '--store', store, ...args])
const list = async (...args: string[]) =>
  JSON.parse((await command('--json', ...args)).stdout) as readonly Listed[]

it('lists them newest first, as a table and as JSON, while the server has the store open', async () => {
  const all = await list()
  expect(all.map(({ runId }) => runId)).toEqual([...runIds].reverse())
  expect(all[0]).toMatchObject({ event: 'run.ended', attempts: 1, tries: [{ status: 204 }] })
  const { stdout, code } = await command()
  expect(code).toBe(0)
  const lines = stdout.trim().split('\n')
  expect(lines[0]).toMatch(/^DELIVERY +TIME +EVENT +RUN +STATUS +TRIES +LAST/)
  expect(lines[1]).toMatch(/ run\.ended +r5 +delivered +1 +204/)
  expect(lines).toHaveLength(6)
})

it('filters by status and webhook, and pages', async () => {
  const failed = await list('--status', 'failed')
  expect(failed.map(({ runId }) => runId)).toEqual(['r2'])
  const [{ webhookId } = { webhookId: '' }] = failed
  expect(await list('--webhook', webhookId)).toHaveLength(5)
  expect(await list('--webhook', 'wh_none')).toEqual([])
  const first = await command('--limit', '2', '--json')
  const page = JSON.parse(first.stdout) as readonly Listed[]
  expect(first.stderr).toBe(`More deliveries: pass --after ${page[1]?.deliveryId}\n`)
  const rest = await list('--after', page[1]?.deliveryId ?? '')
  expect(rest.map(({ runId }) => runId)).toEqual(['r3', 'r2', 'r1'])
  const lost = await command('--after', 'none')
  expect(lost).toMatchObject({ code: 2, stdout: '' })
  expect(lost.stderr).toContain('Delivery "none" not found')
})
