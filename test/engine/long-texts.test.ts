/** Long answers are read on other threads: with the same result, under a deadline, and with the stages of the app. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type App, type AppOptions, createApp, defineCapability } from '../../src/index.ts'

const workerUrl = new URL('../../dist/output/thread/off-thread-worker.js', import.meta.url)
if (!existsSync(fileURLToPath(workerUrl))) throw new Error('dist is missing: run `npm run build` first')

const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } }
const long = `Sure! {'n': '3', /* ${'x'.repeat(20_000)} */ }`

const apps: App[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close()
})

/** Runs one node that gives these texts, one per attempt, and returns the ends of its attempts beside the result. */
async function runTexts(texts: readonly string[], options: AppOptions = {}) {
  const says = defineCapability({
    capabilityId: 'says',
    kind: 'scripted',
    inputContract: { type: 'object' },
    outputContract: schema,
    idempotent: true,
    settings: { script: texts.map((text) => ({ text })) },
  })
  const app = await createApp({ env: {}, capabilities: [says], ...options })
  apps.push(app)
  const envelope = { objective: 'A number', outputContract: { schema } }
  const draft = { nodes: [{ id: 'says', capabilityId: 'says', retry: { max: texts.length - 1 } }] }
  const result = await app.run(envelope, { draft })
  const events = []
  for await (const event of app.watch(result.runId)) events.push(event)
  const ends = events.flatMap((event) => (event.type === 'attempt_end' ? [event.payload] : []))
  return { result, ends, logs: events.flatMap((event) => (event.type === 'log' ? [event.payload] : [])) }
}

describe('a long answer', () => {
  const members = Array.from({ length: 2_000 }, (_, index) => `'k${index}': 1`)
  const texts = { 'with a few repairs': long, 'with thousands of repairs': `{'n': 3, ${members.join(', ')}}` }
  it.each(Object.entries(texts))(
    'is read on another thread as it would be here, %s: value, repairs and events',
    async (_, text) => {
      const here = await runTexts([text], { reading: false })
      const there = await runTexts([text], { reading: { workerUrl } })
      expect(there.result).toMatchObject({ status: 'completed', output: { n: 3 } })
      expect(there.ends[0]?.output?.repairs?.length).toBeGreaterThan(0)
      expect(there.ends).toEqual(here.ends)
      expect(there.logs).toEqual(here.logs)
      expect(there.logs.length).toBeGreaterThan(0)
    },
  )

  it('beyond the deadline is an issue of its attempt, and the next attempt counts', async () => {
    // Reading takes seconds; the deadline is a tenth of one.
    const slow = '<think>{"a":</think>'.repeat(200_000)
    const { result, ends } = await runTexts([slow, '{"n":4}'], { reading: { workerUrl, deadlineMs: 100 } })
    expect(ends[0]).toMatchObject({
      outcome: 'invalid',
      issues: [{ code: 'limit/deadline', message: 'was not read within 100 ms' }],
    })
    expect(result).toMatchObject({ status: 'completed', output: { n: 4 } })
  })

  it('is read here where no thread can start, and a warning says so', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const missing = new URL('./no-such-file.js', import.meta.url)
    const { result } = await runTexts([long], { reading: { workerUrl: missing } })
    expect(result).toMatchObject({ status: 'completed', output: { n: 3 } })
    expect(warned).toHaveBeenCalledWith(
      expect.stringContaining('Long texts are read on the main thread'),
      expect.objectContaining({ code: 'pool/broken' }),
    )
    warned.mockRestore()
  })

  it('is given to the stages of the app here, with its text', async () => {
    const seen: string[] = []
    const app = await createApp({
      env: {},
      defaultModel: 'fake/one',
      providers: [
        {
          name: 'fake',
          generate: async () => ({ kind: 'text', text: long, finish: 'stop', usage: {} }),
        },
      ],
      stages: [
        {
          name: 'double',
          run(value, { text }) {
            seen.push(text)
            return { n: (value as { n: number }).n * 2 }
          },
        },
      ],
      processing: { stages: ['double'] },
      capabilities: [
        defineCapability({
          capabilityId: 'says',
          kind: 'model',
          inputContract: { type: 'object' },
          outputContract: schema,
          idempotent: true,
        }),
      ],
      reading: { workerUrl },
    })
    apps.push(app)
    const envelope = { objective: 'A number', outputContract: { schema } }
    const result = await app.run(envelope, { draft: { nodes: [{ id: 'says', capabilityId: 'says' }] } })
    expect(result).toMatchObject({ status: 'completed', output: { n: 6 } })
    expect(seen).toEqual([long])
  })

  it('is limited by options that are checked', async () => {
    await expect(createApp({ reading: { deadlineMs: -1 } })).rejects.toMatchObject({ code: 'option/invalid' })
  })
})
