/** A process is killed after a run has ended and before its webhook was answered: the next process on the store delivers it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { verifyWebhook } from '../../src/agent/index.ts'
import { api } from '../server/support.ts'
import { processes } from './serve.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const body = {
  envelope: { objective: 'One line about tea', outputContract: { schema: text } },
  draft: { nodes: [{ id: 'one', capabilityId: 'step' }] },
}
const secret = 'the secret of these webhooks'

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Leaves every request without an answer until `answers` is set. */
async function receiver() {
  const received: Received[] = []
  const state = { answers: false }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
    if (state.answers) response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received, state, close }
}

describe.skipIf(missingPostgres() !== undefined)('a webhook of a process that is killed', () => {
  const here = processes()
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'proviso-webhooks-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(['sqlite', 'postgres'])(
    'is delivered after the restart, with the same id and body, on %s',
    async (name) => {
      const { url, received, state, close } = await receiver()
      const env = {
        PROVISO_WEBHOOK_URLS: url,
        PROVISO_WEBHOOK_SECRET: secret,
        PROVISO_WEBHOOK_EVENTS: 'run.ended',
        // Another process delivers it when twice this time and five seconds are over.
        PROVISO_WEBHOOK_TIMEOUT_MS: '2000',
        ...(name === 'sqlite' && { PROVISO_STORE: `sqlite:${join(folder, 'runs.db')}` }),
      }
      const first = await here.serve(env)
      const started = await first.call(`${api}/runs?wait=30`, body)
      const { runId, status } = (await started.json()) as { runId: string; status: string }
      expect(status).toBe('completed')
      await expect.poll(() => received.length, { interval: 5, timeout: 20_000 }).toBe(1)
      first.kill('SIGKILL')
      await first.ended
      state.answers = true
      const second = await here.serve(env)
      await expect.poll(() => received.length, { interval: 20, timeout: 40_000 }).toBe(2)
      const [lost, delivered] = received as [Received, Received]
      expect(delivered.body).toBe(lost.body)
      expect(delivered.headers['webhook-id']).toBe(lost.headers['webhook-id'])
      expect(JSON.parse(delivered.body)).toMatchObject({
        type: 'run.ended',
        data: { runId, status: 'completed' },
      })
      expect(verifyWebhook({ ...delivered, secret })).toBe(true)
      const { webhooks } = (await (await second.call(`${api}/webhooks`)).json()) as {
        webhooks: { webhookId: string }[]
      }
      const path = `${api}/webhooks/${webhooks[0]?.webhookId}/deliveries`
      const stored = async () =>
        ((await (await second.call(path)).json()) as { deliveries: { status: string; attempts: number }[] })
          .deliveries
      await expect.poll(stored, { interval: 20 }).toMatchObject([{ status: 'delivered', attempts: 1 }])
      second.kill('SIGKILL')
      close()
    },
  )
})
