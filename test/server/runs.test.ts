/** Promises of the server about runs, spoken over HTTP to a real listening one. */
import { describe, expect, it } from 'vitest'
import { api, approved, envelope, frames, local, paused, readFrames, serve, start, tea } from './support.ts'

const problem = (code: string, status: number) => ({
  type: `urn:proviso:problem:${code.replace('/', ':')}`,
  title: expect.any(String),
  status,
  detail: expect.any(String),
  code,
  traceId: expect.stringMatching(/^[\da-f]{32}$/),
})

describe('run.stream', () => {
  it('streams every frame of a run once and in order, and ends with complete', async () => {
    const { call } = await serve(tea)
    const response = await call(`${api}/run.stream`, { body: start() })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const all = await frames(response)
    expect(all.map(({ id }) => id)).toEqual(all.map((_, index) => index + 1))
    expect(all[0]?.type).toBe('start')
    expect(all.at(-1)).toMatchObject({
      type: 'complete',
      payload: { status: 'completed', output: { text: 'Tea' } },
    })
    expect(response.headers.get('proviso-run-id')).toBe(all[0]?.runId)
  })

  it('names the run in its first frame, and says there what the envelope said in an older way', async () => {
    const { call } = await serve(tea)
    const older = start({ policies: { brandVoice: 'warm' } })
    const [first] = await frames(await call(`${api}/run.stream`, { body: older }))
    expect(first).toMatchObject({
      type: 'start',
      payload: {
        runId: first?.runId,
        warnings: [
          { code: 'policy/flat', at: { pointer: '/policies/brandVoice' }, hint: expect.any(String) },
        ],
      },
    })
    const begun = await (await call(`${api}/runs`, { body: older })).json()
    expect(begun.warnings).toEqual(first?.payload['warnings'])
    const [plain] = await frames(await call(`${api}/run.stream`, { body: start() }))
    expect(plain?.payload).not.toHaveProperty('warnings')
    const path = `${api}/runs/${first?.runId}/events?limit=1`
    expect((await (await call(path)).json()).events).toEqual([first])
  })

  it('takes an envelope alone and plans it', async () => {
    const { call } = await serve(tea)
    const all = await frames(await call(`${api}/run.stream`, { body: envelope() }))
    expect(all.at(-1)).toMatchObject({ type: 'complete', payload: { status: 'completed' } })
  })

  it('ends when the run waits for a person', async () => {
    const { call } = await serve(tea)
    const all = await frames(await call(`${api}/run.stream`, { body: start(approved) }))
    expect(all.map(({ type }) => type)).toContain('hitl_request')
    expect(all.map(({ type }) => type)).not.toContain('complete')
  })

  it('refuses an envelope with every issue located, and starts nothing', async () => {
    const { call, app } = await serve(tea)
    const response = await call(`${api}/run.stream`, {
      body: { objective: '', outputContract: { schema: 7 }, extra: 1 },
    })
    expect(response.status).toBe(422)
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    const body = await response.json()
    expect(body).toMatchObject(problem('envelope/invalid', 422))
    expect(body.issues.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
      '/extra',
      '/objective',
      '/outputContract/schema',
    ])
    expect(await app.store.runs({})).toEqual([])
  })

  it('holds untrusted schemas to the limits, and names the limit', async () => {
    const { call } = await serve(tea)
    const schema = { type: 'object', properties: { a: { $ref: 'http://169.254.169.254/' } } }
    const response = await call(`${api}/run.stream`, { body: { ...envelope(), outputContract: { schema } } })
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      issues: [{ pointer: '/outputContract/schema/properties/a/$ref' }],
    })
  })

  it('continues when its reader leaves', async () => {
    let finish = (_text: string) => {}
    const slow = local('write', () => new Promise((resolve) => (finish = (said) => resolve({ text: said }))))
    const { call, app } = await serve({ capabilities: [slow] })
    const reader = readFrames(await call(`${api}/run.stream`, { body: start() }))
    const first = await reader.next()
    for (let frame = first; !frame.done && frame.value.type !== 'node_start'; ) frame = await reader.next()
    await reader.return()
    finish('Still there')
    const { runId } = first.value as { runId: string }
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Still there' } })
  })
})

describe('run.resume', () => {
  it('resumes a paused run, and says so in its first frame', async () => {
    const { call, app } = await serve(tea)
    const [first] = await frames(await call(`${api}/run.stream`, { body: start(paused) }))
    const { planVersion } = await app.state(first!.runId)
    const body = { runId: first!.runId, expectedPlanVersion: planVersion, operator: { displayName: 'Ann' } }
    const all = await frames(await call(`${api}/run.resume`, { body }))
    expect(all[0]).toMatchObject({
      type: 'plan_generated',
      payload: { metadata: { resumed: true, by: 'FLEX_TOKEN', note: 'for Ann' } },
    })
    expect(all.at(-1)).toMatchObject({ type: 'complete', payload: { status: 'completed' } })
  })

  it('refuses a stale version, a run that is not paused, and one that is not there', async () => {
    const { call } = await serve(tea)
    const [first] = await frames(await call(`${api}/run.stream`, { body: start(paused) }))
    const { runId } = first!
    const resume = (body: object) => call(`${api}/run.resume`, { body })
    const stale = await resume({ runId, expectedPlanVersion: 99 })
    expect([stale.status, await stale.json()]).toEqual([
      409,
      expect.objectContaining(problem('plan/stale-version', 409)),
    ])
    await frames(await resume({ runId }))
    const again = await resume({ runId })
    expect([again.status, await again.json()]).toEqual([
      409,
      expect.objectContaining(problem('run/state', 409)),
    ])
    const missing = await resume({ runId: 'flex_none' })
    expect([missing.status, await missing.json()]).toEqual([
      404,
      expect.objectContaining(problem('run/missing', 404)),
    ])
  })

  it('asking for a run that is there with POST runs begins no second one', async () => {
    const { app, call } = await serve(tea)
    const given = start({ constraints: { resumeRunId: 'flex_one' } })
    for (const [body, pointer] of [
      [given, '/envelope/constraints/resumeRunId'],
      [given.envelope, '/constraints/resumeRunId'],
    ] as const) {
      const response = await call(`${api}/runs`, { body })
      expect(response.status).toBe(422)
      expect((await response.json()).issues).toMatchObject([{ pointer }])
    }
    expect(await app.store.runs({})).toEqual([])
  })

  it('the older way, constraints.resumeRunId, needs the same thread and is deprecated', async () => {
    const { call } = await serve(tea)
    const constraints = { threadId: 't1' }
    const [first] = await frames(await call(`${api}/run.stream`, { body: start({ ...paused, constraints }) }))
    const resumeRunId = first!.runId
    const other = await call(`${api}/run.stream`, {
      body: start({ constraints: { threadId: 't2', resumeRunId } }),
    })
    expect(other.status).toBe(409)
    const response = await call(`${api}/run.stream`, {
      body: start({ constraints: { threadId: 't1', resumeRunId } }),
    })
    expect(response.headers.get('deprecation')).toBe('true')
    expect(response.headers.get('warning')).toContain('resumeRunId is deprecated')
    const all = await frames(response)
    expect(all.every(({ runId }) => runId === resumeRunId)).toBe(true)
    expect(all.at(-1)).toMatchObject({ type: 'complete', payload: { status: 'completed' } })
  })

  it('a caller cannot lift a pause by the older way', async () => {
    const { call, tokenFor } = await serve(tea)
    const token = await tokenFor('caller')
    const [first] = await frames(await call(`${api}/run.stream`, { token, body: start(paused) }))
    const body = start({ constraints: { resumeRunId: first!.runId } })
    expect((await call(`${api}/run.stream`, { token, body })).status).toBe(403)
  })
})

describe('runs', () => {
  it('POST answers 202 at once with where to look; ?wait= answers when there is something to say', async () => {
    const { call, app } = await serve(tea)
    const begun = await call(`${api}/runs`, { body: start() })
    expect(begun.status).toBe(202)
    const { runId, location } = await begun.json()
    expect(begun.headers.get('location')).toBe(location)
    await app.result(runId)
    expect((await call(location)).status).toBe(200)
    const done = await call(`${api}/runs?wait=30`, { body: start() })
    expect(done.status).toBe(200)
    expect(await done.json()).toMatchObject({ status: 'completed', output: { text: 'Tea' }, warnings: [] })
  })

  it('POST says what was said in an older way', async () => {
    const { call } = await serve(tea)
    const done = await call(`${api}/runs?wait=30`, { body: start({ policies: { brandVoice: 'inspiring' } }) })
    expect((await done.json()).warnings).toMatchObject([{ at: { pointer: '/policies/brandVoice' } }])
  })

  it('GET lists them page by page, the newest first, by status and thread', async () => {
    const { call } = await serve(tea)
    const ids: string[] = []
    for (const threadId of ['a', 'b', 'a']) {
      const done = await call(`${api}/runs?wait=30`, { body: { ...start(), threadId } })
      ids.unshift((await done.json()).runId)
    }
    const page = await (await call(`${api}/runs?limit=2`)).json()
    const rest = await (await call(`${api}/runs?limit=2&before=${page.next}`)).json()
    const found = [...page.runs, ...rest.runs].map(({ runId }: { runId: string }) => runId)
    expect(found.sort()).toEqual([...ids].sort())
    expect(rest.next).toBeUndefined()
    expect((await (await call(`${api}/runs?threadId=a`)).json()).runs).toHaveLength(2)
    expect((await (await call(`${api}/runs?status=failed&status=cancelled`)).json()).runs).toEqual([])
    expect((await call(`${api}/runs?status=odd`)).status).toBe(400)
  })

  it('GET runs/:id has run, output, plan versions, snapshot and nodes, redacted but for the answer', async () => {
    const { call } = await serve(tea)
    const inputs = { topic: 'tea', apiKey: 'sk-secret-1' }
    const { runId } = await (await call(`${api}/runs?wait=30`, { body: start({ inputs }) })).json()
    const page = await (await call(`${api}/runs/${runId}`)).json()
    expect(page).toMatchObject({
      ok: true,
      run: { runId, status: 'completed', planVersion: 1, envelope: { inputs: { apiKey: '[redacted]' } } },
      output: { status: 'completed', output: { text: 'Tea' } },
      planVersions: [{ version: 1, pendingNodeIds: [] }],
      latestSnapshot: { version: 1, nodes: [{ id: 'write' }], facets: { text: { value: 'Tea' } } },
      nodes: [{ nodeId: 'write', status: 'completed' }],
    })
    expect(JSON.stringify(page)).not.toContain('sk-secret-1')
  })

  it('cancels a run, and leaves one that is over as it is', async () => {
    const { call, app } = await serve(tea)
    const [first] = await frames(await call(`${api}/run.stream`, { body: start(paused) }))
    const cancel = () => call(`${api}/runs/${first!.runId}/cancel`, { body: { reason: 'Enough' } })
    expect((await cancel()).status).toBe(202)
    expect(await app.result(first!.runId)).toMatchObject({ status: 'cancelled' })
    const again = await cancel()
    expect([again.status, (await again.json()).status]).toEqual([200, 'cancelled'])
  })

  it('cancel needs no body', async () => {
    const { call } = await serve(tea)
    const [first] = await frames(await call(`${api}/run.stream`, { body: start(paused) }))
    expect((await call(`${api}/runs/${first!.runId}/cancel`, { method: 'POST' })).status).toBe(202)
  })

  it('fires a manual policy, and no other', async () => {
    const { call } = await serve(tea)
    const manual = { id: 'again', trigger: { kind: 'manual' }, action: { type: 'fail', message: 'Stop' } }
    const policies = { runtime: [...paused.policies.runtime, manual] }
    const [first] = await frames(await call(`${api}/run.stream`, { body: start({ policies }) }))
    const trigger = (id: string) =>
      call(`${api}/runs/${first!.runId}/policies/${id}/trigger`, { method: 'POST' })
    expect((await trigger('wait')).status).toBe(404)
    expect((await trigger('again')).status).toBe(202)
  })
})

describe('events', () => {
  it('continue after Last-Event-ID or ?after=, as a stream or page by page', async () => {
    const { call } = await serve(tea)
    const whole = await frames(await call(`${api}/run.stream`, { body: start() }))
    const path = `${api}/runs/${whole[0]!.runId}/events`
    const sse = { accept: 'text/event-stream' }
    expect(await frames(await call(path, { headers: sse }))).toEqual(whole)
    const rest = await frames(await call(path, { headers: { ...sse, 'last-event-id': '3' } }))
    expect(rest).toEqual(whole.slice(3))
    expect(await frames(await call(`${path}?after=3`, { headers: sse }))).toEqual(whole.slice(3))
    const pages = []
    for (let next: number | undefined = 0; next !== undefined; ) {
      const page = await (await call(`${path}?after=${next}&limit=4`)).json()
      pages.push(...page.events)
      next = page.next
    }
    expect(pages).toEqual(whole)
    expect((await call(path, { headers: { ...sse, 'last-event-id': 'x' } })).status).toBe(400)
  })
})

describe('prove', () => {
  it('gives plan and proof, and stores and calls nothing', async () => {
    let calls = 0
    const { call, app } = await serve({ capabilities: [local('write', () => ({ text: `${++calls}` }))] })
    const planned = await (await call(`${api}/prove`, { body: envelope() })).json()
    expect(planned).toMatchObject({ accepted: true, satisfactionScore: 1, plan: { nodes: [{}] } })
    const drafted = await (await call(`${api}/prove`, { body: start() })).json()
    expect(drafted).toMatchObject({ accepted: true, plan: { nodes: [{ id: 'write' }] } })
    const unknown = await call(`${api}/prove`, {
      body: start({}, { nodes: [{ id: 'a', capabilityId: 'none' }] }),
    })
    expect([unknown.status, (await unknown.json()).accepted]).toEqual([200, false])
    expect([calls, await app.store.runs({})]).toEqual([0, []])
  })
})
