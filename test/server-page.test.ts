/** The calls of the page about the server work as they stand there, on a run that is really there. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { rehearsal } from '../src/testing/index.ts'
import { type Body, flexToken, type Served, type SseFrame, serve } from './server-support.ts'
import { root } from './support.ts'

const page = readFileSync(join(root, 'docs/reference/server.md'), 'utf8')
const calls = [...page.matchAll(/^```bash\n(curl [\s\S]*?)^```/gm)].map(([, call = '']) => call)

/** The envelope that the specification shows with its calls. */
const specified = {
  objective: 'Create LinkedIn post variants promoting AwesomePoster',
  inputs: {
    channel: 'linkedin',
    goal: 'attract_new_employees',
    variantCount: 2,
    contextBundles: [
      {
        type: 'company_profile',
        payload: {
          companyName: 'AwesomePoster',
          coreValue: 'Human-first automation',
          recentEvent: 'Summer retreat in Tahoe',
        },
      },
    ],
  },
  policies: { brandVoice: 'inspiring', requiresHitlApproval: false },
  specialInstructions: [
    'Variant A should highlight team culture.',
    'Variant B should highlight career growth opportunities.',
  ],
  outputContract: {
    mode: 'json_schema',
    schema: {
      type: 'object',
      required: ['copyVariants'],
      properties: {
        copyVariants: {
          type: 'array',
          minItems: 2,
          maxItems: 2,
          items: {
            type: 'object',
            required: ['headline', 'body', 'callToAction'],
            properties: {
              headline: { type: 'string' },
              body: { type: 'string' },
              callToAction: { type: 'string' },
            },
          },
        },
      },
    },
  },
}

interface Words {
  readonly [name: string]: string | number
}

/** The call at this place of the page: a shell fills in the words, and `fetch` says it, for curl is not everywhere. */
async function run(at: number, served: Served, envelope: object, words: Words = {}): Promise<string> {
  const env = Object.fromEntries(Object.entries(words).map(([name, value]) => [name, String(value)]))
  const call = calls[at]!.replace('http://localhost:3003', served.address).replace(
    '-d @envelope.json',
    `-d "$BODY"`,
  )
  const shell = { ...process.env, ...env, FLEX_TOKEN: flexToken, BODY: JSON.stringify(envelope) }
  const script = `${call.trim().replace(/^curl /, 'set -- ')}\nprintf '%s\\0' "$@"`
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { env: shell })
  return said(stdout.split('\0').slice(0, -1))
}

/** The options that the page uses, and no others. */
async function said(args: string[]): Promise<string> {
  const headers: [string, string][] = []
  let [body, url]: (string | undefined)[] = []
  for (let arg = args.shift(); arg !== undefined; arg = args.shift()) {
    if (arg === '-H') headers.push((args.shift() ?? '').split(': ', 2) as [string, string])
    else if (arg === '-d') body = args.shift()
    else if (arg.startsWith('http')) url = arg
    else expect(arg).toBe('-N')
  }
  const response = await fetch(url ?? '', {
    headers,
    ...(body !== undefined && { method: 'POST', body }),
  })
  expect(response.status).toBe(200)
  return response.text()
}

const framesIn = (text: string): SseFrame[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))

const model = { providers: [rehearsal()], defaultModel: 'rehearsal/any', env: {} }

describe('the page', () => {
  it('begins a run with the envelope of the specification: exactly two variants come out', async () => {
    const served = await serve(model)
    const frames = framesIn(await run(0, served, specified))
    expect(frames[0]?.type).toBe('start')
    expect(frames.at(-1)).toMatchObject({
      type: 'complete',
      payload: {
        status: 'completed',
        output: { copyVariants: [{ headline: expect.any(String) }, { callToAction: expect.any(String) }] },
      },
    })
    const known: Body = JSON.parse(await run(4, served, {}, { RUN_ID: frames[0]!.runId }))
    expect(known).toMatchObject({
      ok: true,
      run: { runId: frames[0]!.runId, planVersion: 1, status: 'completed' },
      planVersions: [{ version: 1, pendingNodeIds: [], schemaHash: expect.any(String) }],
      latestSnapshot: { version: 1, facets: { copyVariants: { value: [{}, {}] } } },
    })
  })

  it('resumes a run that was paused, with the version of its plan', async () => {
    const served = await serve(model)
    const pause = {
      id: 'look',
      trigger: { kind: 'onStart' },
      action: { type: 'pause', reason: 'Look first' },
    }
    const [first] = framesIn(await run(0, served, { ...specified, policies: { runtime: [pause] } }))
    const RUN_ID = first!.runId
    const { planVersion } = await served.app.state(RUN_ID)
    const frames = framesIn(await run(1, served, {}, { RUN_ID, PLAN_VERSION: planVersion }))
    expect(frames[0]).toMatchObject({ type: 'plan_generated', payload: { metadata: { resumed: true } } })
    expect(frames.at(-1)).toMatchObject({ type: 'complete', payload: { status: 'completed' } })
  })

  it('finds what is asked and answers it', async () => {
    const served = await serve(model)
    const asking = { ...specified, policies: { requiresHitlApproval: true } }
    const [first] = framesIn(await run(0, served, asking))
    const RUN_ID = first!.runId
    const { asks }: Body = JSON.parse(await run(2, served, {}, { RUN_ID }))
    const { requestId, valueHash } = asks[0]!
    const words = { RUN_ID, REQUEST_ID: requestId, VALUE_HASH: valueHash }
    expect(JSON.parse(await run(3, served, {}, words))).toMatchObject({ ok: true, runId: RUN_ID })
    expect(await served.app.result(RUN_ID)).toMatchObject({ status: 'completed' })
  })
})
