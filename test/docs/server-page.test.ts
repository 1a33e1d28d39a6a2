/** The calls of the page about the server work as written, on a real run. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { rehearsal } from '../../src/testing/index.ts'
import { callAsWritten, caller, framesIn, specified } from '../server/curl-support.ts'
import { type Body, flexToken, type Served, serve } from '../server/support.ts'
import { requireBuild, root, runNode } from '../support.ts'

const page = readFileSync(join(root, 'docs/reference/server.md'), 'utf8')
const programs = [...page.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = '']) => code)
const calls = [...page.matchAll(/^```bash\n(curl [\s\S]*?)^```/gm)].map(([, call = '']) => call)

it('the program of the page serves as printed, and its token gets in', async () => {
  requireBuild()
  const folder = mkdtempSync(join(tmpdir(), 'proviso-page-'))
  // Only the place of the store and the port differ; between listening and closing it is called.
  const call = `const called = await fetch(server.address + '/api/v1/flex/runs', {
    headers: { authorization: 'Bearer choose-a-long-random-text' },
  })
  console.log(called.status, JSON.stringify(await called.json()))\n`
  const program = programs[0]!
    .replace('sqlite:runs.db', `sqlite:${join(folder, 'runs.db')}`)
    .replace('port: 3003', 'port: 0')
    .replace('// … and', `${call}// … and`)
  const done = await runNode(['--input-type=module', '--eval', program])
  rmSync(folder, { recursive: true, force: true })
  expect(done).toEqual({ code: 0, stdout: '200 {"runs":[]}\n', stderr: '' })
})

interface Words {
  readonly [name: string]: string | number
}

/** The call at this position of the page, as written but for the port. */
function run(at: number, served: Served, envelope: object, words: Words = {}): Promise<string> {
  const env = Object.fromEntries(Object.entries(words).map(([name, value]) => [name, String(value)]))
  const call = calls[at]!.replace('http://localhost:3003', served.address)
  return callAsWritten(call, { envelope, env: { ...env, FLEX_TOKEN: flexToken } })
}

const model = { providers: [rehearsal()], defaultModel: 'rehearsal/any', env: {} }

describe(`the page, called by ${caller}`, () => {
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
