/**
 * The calls that the specification of the agents server shows (FLEX, section 10), letter by letter but for the port, on a run
 * that is really there: its id, and the version of its plan, replace the made-up ones of the sample.
 */
import { describe, expect, it } from 'vitest'
import { rehearsal } from '../../src/testing/index.ts'
import { callAsWritten, caller, framesIn, specified } from './curl-support.ts'
import { type Body, flexToken, type Served, serve } from './support.ts'

const stream = `curl -N \\
  -H "Content-Type: application/json" \\
  -H "Accept: text/event-stream" \\
  -H "Authorization: Bearer $FLEX_TOKEN" \\
  -d @envelope.json \\
  http://localhost:3003/api/v1/flex/run.stream`

const resume = `curl -N \\
  -H "Content-Type: application/json" \\
  -H "Accept: text/event-stream" \\
  -H "Authorization: Bearer $FLEX_TOKEN" \\
  -d '{"runId":"flex_resume_123","expectedPlanVersion":4}' \\
  http://localhost:3003/api/v1/flex/run.resume`

const debugging = `curl \\
  -H "Accept: application/json" \\
  -H "Authorization: Bearer $FLEX_TOKEN" \\
  http://localhost:3003/api/v1/flex/runs/flex_resume_123`

interface Real {
  readonly runId?: string
  readonly planVersion?: number
  readonly envelope?: object
  readonly token?: string
}

const model = { providers: [rehearsal()], defaultModel: 'rehearsal/any', env: {} }

/** The sample, on this server and with what is real. */
function run(sample: string, served: Served, real: Real = {}): Promise<string> {
  const { runId = 'flex_resume_123', planVersion = 4, envelope = specified, token = flexToken } = real
  const call = sample
    .replace('http://localhost:3003', served.address)
    .replace('flex_resume_123', runId)
    .replace('"expectedPlanVersion":4', `"expectedPlanVersion":${planVersion}`)
  return callAsWritten(call, { envelope, env: { FLEX_TOKEN: token } })
}

/** With a policy that pauses the run before anything is done. */
const pausing = {
  ...specified,
  policies: {
    ...specified.policies,
    runtime: [{ id: 'look', trigger: { kind: 'onStart' }, action: { type: 'pause', reason: 'Look first' } }],
  },
}

describe(`the calls of the specification, said by ${caller}`, () => {
  it('the sample envelope is streamed to its end: two variants, each with what the contract wants', async () => {
    const served = await serve(model)
    const frames = framesIn(await run(stream, served))
    expect(frames.map(({ id }) => id)).toEqual(frames.map((_, index) => index + 1))
    expect(frames.map(({ type }) => type)).toEqual(expect.arrayContaining(['start', 'plan_generated']))
    const variant = {
      headline: expect.any(String),
      body: expect.any(String),
      callToAction: expect.any(String),
    }
    expect(frames.at(-1)).toMatchObject({
      type: 'complete',
      payload: { status: 'completed', output: { copyVariants: [variant, variant] } },
    })
  })

  it('a paused run is resumed, and can be read later', async () => {
    const served = await serve(model)
    const [first] = framesIn(await run(stream, served, { envelope: pausing }))
    const { runId } = first!
    // It was paused before there was a plan.
    const { planVersion } = await served.app.state(runId)
    const frames = framesIn(await run(resume, served, { runId, planVersion }))
    expect(frames[0]).toMatchObject({ type: 'plan_generated', payload: { metadata: { resumed: true } } })
    expect(frames.at(-1)).toMatchObject({ type: 'complete', payload: { status: 'completed' } })
    const page: Body = JSON.parse(await run(debugging, served, { runId }))
    expect(page).toMatchObject({
      ok: true,
      run: { runId, planVersion: 1, status: 'completed' },
      planVersions: [{ version: 1, schemaHash: expect.any(String) }],
      latestSnapshot: {
        version: 1,
        pendingNodeIds: [],
        facets: { copyVariants: { value: [{}, {}] } },
      },
    })
  })

  it.each([
    ['the version of another plan', 409, (served: Served, runId: string) => run(resume, served, { runId })],
    ['a run that is not there', 404, (served: Served) => run(debugging, served)],
    ['another token', 401, (served: Served) => run(stream, served, { token: 'an-unknown-token' })],
  ])('%s is refused with %i', async (_, status, call) => {
    const served = await serve(model)
    const [first] = framesIn(await run(stream, served, { envelope: pausing }))
    await expect(call(served, first!.runId)).rejects.toThrow(String(status))
  })
})
