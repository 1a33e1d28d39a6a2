/** Promises about options: a slip of the pen is refused with its place, and never taken for a default. */

import { getEventListeners } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { generateValue } from '../../src/adapters/models/index.ts'
import { type AppOptions, createApp, type RunOptions } from '../../src/index.ts'
import { envelope, local, open } from '../journeys/support.ts'
import { wrongly } from '../wrongly.ts'

/** As a caller without types would. */
const create = (options: unknown) => createApp(options as AppOptions)

const wrong: readonly [string, unknown, string][] = [
  ['an unknown name', { capabilitys: [] }, '/capabilitys'],
  ['an invalid capability', { capabilities: [{}] }, '/capabilities/0'],
  ['capabilities that are no list', { capabilities: {} }, '/capabilities'],
  ['a negative number', { leaseMs: -1 }, '/leaseMs'],
  ['no number', { pollMs: Number.NaN }, '/pollMs'],
  ['a number as text', { askMs: '30' }, '/askMs'],
  ['a number without end', { askMs: Number.POSITIVE_INFINITY }, '/askMs'],
  ['no place at all', { limits: { process: 0 } }, '/limits/process'],
  ['an unknown limit', { limits: { proces: 3 } }, '/limits/proces'],
  ['an invalid value of claim', { claim: 'some' }, '/claim'],
  ['an invalid store', { store: {} }, '/store'],
  ['an owner without a name', { owner: '' }, '/owner'],
  ['what is no function', { onCrash: 'log' }, '/onCrash'],
  ['an agent without keys', { http: { agents: { a: { url: 'https://a.example' } } } }, '/http/agents/a'],
  ['an invalid key', { http: { agents: { a: { url: 'x', keys: [null] } } } }, '/http/agents/a'],
  ['an unknown setting of http', { http: { allowLoopBack: true } }, '/http/allowLoopBack'],
  ['hosts that are no list', { http: { allow: 'agents.internal' } }, '/http/allow'],
  [
    'an unknown conversion',
    { processing: { coercion: { allow: { integer: ['str->intt'] } } } },
    '/processing/coercion/allow/integer/0',
  ],
  ['an unknown key of processing', { processing: { enforcment: 'off' } }, '/processing/enforcment'],
  ['a clock without timers', { clock: { now: () => 0 } }, '/clock'],
  ['no object', 7, ''],
]

describe('createApp', () => {
  it.each(wrong)('refuses %s, and says where', async (_, options, pointer) => {
    await expect(create(options)).rejects.toMatchObject({
      code: 'option/invalid',
      message: expect.stringContaining(pointer),
      at: { pointer },
      issues: [{ at: { pointer } }],
    })
  })

  it('says what a name was meant to be, and names everything that is wrong', async () => {
    await expect(create({ capabilitys: [], leaseMs: -1 })).rejects.toMatchObject({
      hint: 'Did you mean "capabilities"?',
      issues: [{ at: { pointer: '/capabilitys' } }, { at: { pointer: '/leaseMs' } }],
    })
  })

  it.each([
    [{ limit: {} }, '/limit is not an option', 'limits'],
    [{ http: { allowLoopBack: true } }, '/http/allowLoopBack is not an option', 'allowLoopback'],
    [{ processing: { coercion: { allow: { integer: ['str->intt'] } } } }, 'str->int', 'str->int'],
  ])('names each mistake in full, with what was meant: %j', async (options, message, meant) => {
    await expect(create(options)).rejects.toMatchObject({
      message: expect.stringContaining(message),
      hint: expect.stringContaining(meant),
      issues: [{ message: expect.stringContaining(message), hint: expect.stringContaining(meant) }],
    })
  })

  it('takes the times of leases and asks from the environment, and refuses others than whole milliseconds', async () => {
    await expect(create({ env: { leaseMs: 'soon' } })).rejects.toThrow(
      'PROVISO_LEASE_MS must be a whole number of milliseconds',
    )
    await expect(create({ env: { askMs: '1.5' } })).rejects.toThrow('PROVISO_ASK_MS must be a whole number')
    const app = await open({
      capabilities: [local('write', () => ({ text: 'Tea' }))],
      env: { askMs: '90000' },
    })
    const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
    const { runId } = await app.run(envelope({ policies: { requiresHitlApproval: true } }), { draft })
    const [ask] = await app.store.asks({ runId })
    const left = (ask?.expiresAt ?? 0) - Date.now()
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(90_000)
  })

  it('refuses an invalid facet, with its location, and takes either spelling of one', async () => {
    const mood = { name: 'mood', schema: { type: 'string' }, semantics: 'Write so' }
    await expect(create({ facets: [{ name: 'x' }] })).rejects.toMatchObject({
      code: 'option/invalid',
      message: expect.stringContaining('/facets/0'),
    })
    const app = await open({ facets: wrongly([{ ...mood, metadata: { directionality: 'input' } }]) })
    expect(app.facets().find(({ name }) => name === 'mood')).toMatchObject({
      semantics: { instruction: 'Write so' },
      metadata: { direction: 'input' },
    })
  })

  it('leaves a store that it has opened to others when it comes to nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'proviso-options-'))
    const store = `sqlite:${join(folder, 'runs.db')}`
    const write = local('write', () => ({ text: 'Tea' }))
    try {
      await expect(create({ store, capabilities: [write, write] })).rejects.toThrow(
        'two capabilities have this id',
      )
      await expect(create({ store, env: { leaseMs: 'soon' } })).rejects.toThrow('PROVISO_LEASE_MS')
      await (await create({ store, capabilities: [write] })).close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('takes what is undefined for absent', async () => {
    const app = await create({ store: undefined, leaseMs: undefined, capabilities: undefined })
    await app.close()
  })
})

describe('a run', () => {
  const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
  const runs: readonly [string, unknown, string][] = [
    ['an empty id', { runId: '' }, '/runId'],
    ['an id that is no text', { runId: 7 }, '/runId'],
    ['an id that no header can carry', { runId: 'r\ud800' }, '/runId'],
    ['an empty tenant', { tenant: '' }, '/tenant'],
    ['an unknown name', { runid: 'r' }, '/runid'],
    ['an invalid signal', { signal: {} }, '/signal'],
  ]

  it.each(runs)('is refused with %s', async (_, options, pointer) => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
    await expect(app.run(envelope(), { draft, ...(options as RunOptions) })).rejects.toMatchObject({
      code: 'option/invalid',
      issues: [{ at: { pointer } }],
    })
    expect(await app.store.runs({})).toEqual([])
  })

  it('does not begin for a caller that has already aborted', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
    const run = app.run(envelope(), { draft, signal: AbortSignal.abort() })
    await expect(run).rejects.toMatchObject({ name: 'AbortError' })
    expect(await app.store.runs({})).toEqual([])
  })

  it('leaves nothing on the signal with which many are waited for', async () => {
    const warnings: Error[] = []
    const warn = (warning: Error) => warnings.push(warning)
    process.on('warning', warn)
    const { signal } = new AbortController()
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))], pollMs: 60_000 })
    await Promise.all(Array.from({ length: 30 }, () => app.run(envelope(), { draft, signal })))
    expect(getEventListeners(signal, 'abort')).toEqual([])
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', warn)
    expect(warnings).toEqual([])
  })

  it('is not waited for with an invalid signal', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
    const { id: runId } = await app.start(envelope(), { draft })
    const { signal } = new AbortController()
    await expect(app.result(runId, wrongly({ signal }))).rejects.toMatchObject({
      code: 'option/invalid',
      hint: 'Pass the signal itself: app.result(runId, signal)',
    })
    expect(await app.result(runId, signal)).toMatchObject({ status: 'completed' })
  })

  it('of an id that is taken by another request is refused, and is no crash', async () => {
    const crashes: unknown[] = []
    const app = await open({
      capabilities: [local('write', () => ({ text: 'Tea' }))],
      onCrash: (...crash) => crashes.push(crash),
    })
    await app.run(envelope(), { draft, runId: 'r' })
    await expect(app.run(envelope({ objective: 'Another' }), { draft, runId: 'r' })).rejects.toMatchObject({
      code: 'run/exists',
    })
    const prepare = () => app.prepare(envelope(), { draft, runId: 's' })
    const together = await Promise.allSettled([1, 2].map(() => prepare().start()))
    expect(together.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await app.result('s')).toMatchObject({ status: 'completed' })
    expect(crashes).toEqual([])
    expect(app.active).toBe(0)
  })
})

describe('a contract that is a schema object of Zod', () => {
  const price = z.object({ price: z.number() })

  it('is refused on the wire, and the run never begins', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
    expect(() => app.prepare(envelope({ outputContract: { schema: price } }))).toThrow(
      expect.objectContaining({
        code: 'envelope/invalid',
        issues: [expect.objectContaining({ at: { pointer: '/outputContract/schema' } })],
      }),
    )
    expect(await app.store.runs({})).toEqual([])
  })

  it('is converted where it belongs to a capability', () => {
    const { capability } = local('write', () => ({ price: 1 }), { outputContract: wrongly(price) })
    expect(capability.outputContract).toMatchObject({ properties: { price: { type: 'number' } } })
  })

  it('counts as the JSON Schema that the hint asks for', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
    const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
    const schema = z.toJSONSchema(price)
    expect(await app.run(envelope({ outputContract: { schema } }), { draft })).toMatchObject({
      failure: 'plan/rejected',
    })
  })
})

describe('nothing at all', () => {
  // Callers without types come with nothing, or with something else.
  const untyped = async () =>
    (await open({ providers: [] })) as unknown as Record<string, (...given: unknown[]) => unknown>

  it.each([
    ['generate', [], '/objective'],
    ['generate', [null], '/objective'],
    ['generate', [{ schema: {} }], '/objective'],
    ['estimate', [envelope()], ''],
    ['estimate', [envelope(), null], ''],
    ['estimate', [envelope(), {}], '/draft'],
    ['estimate', [envelope(), { drafft: {} }], '/drafft'],
  ])('%s of %j is refused with its place', async (call, given, pointer) => {
    const app = await untyped()
    await expect(async () => app[call]?.(...given)).rejects.toMatchObject({
      name: 'ProvisoError',
      code: 'option/invalid',
      at: { pointer },
    })
  })

  it('run and estimate of nothing are refused as an envelope', async () => {
    const app = await untyped()
    for (const call of ['run', 'estimate'])
      await expect(async () => app[call]?.()).rejects.toMatchObject({ code: 'envelope/invalid' })
  })

  it('generateValue of nothing says that it wants an object, and of an empty one what is missing', async () => {
    const generate = generateValue as unknown as (given?: unknown) => Promise<unknown>
    await expect(generate()).rejects.toMatchObject({ code: 'option/invalid', at: { pointer: '' } })
    const missing = ['/objective', '/schema', '/providers', '/model'].map((pointer) => ({ at: { pointer } }))
    await expect(generate({})).rejects.toMatchObject({ code: 'option/invalid', issues: missing })
  })
})

describe('reading a run', () => {
  const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
  const ran = async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
    return { app, runId: (await app.run(envelope(), { draft })).runId }
  }

  it.each([Number.NaN, 'abc', -1, 1.5])('watch is refused after %s, and waits for nothing', async (after) => {
    const { app, runId } = await ran()
    expect(() => app.watch(runId, { after: after as number })).toThrow('/after must be a sequence number')
  })

  it.each<[string, unknown, string]>([
    ['an unknown name', { policy: [] }, '/policy is not an option'],
    ['policies that are no list', { policies: { runtime: [] } }, '/policies must be a list'],
    ['an invalid policy', { policies: [{}] }, '/policies/0'],
    ['invalid node data', { nodeData: { write: 3 } }, '/nodeData/write must be an object'],
    ['data for a node that is not there', { nodeData: { wirte: {} } }, 'nodeData names "wirte"'],
  ])('replay is refused with %s', async (_, changes, message) => {
    const { app, runId } = await ran()
    await expect(app.replay(runId, changes as object)).rejects.toMatchObject({
      code: 'option/invalid',
      message: expect.stringContaining(message),
    })
  })

  it('replay takes a policy as an envelope does, with its defaults', async () => {
    const { app, runId } = await ran()
    const fail = { id: 'p', trigger: { kind: 'onNodeComplete' }, action: { type: 'fail' } } as never
    const { differences } = await app.replay(runId, { policies: [fail] })
    expect(differences).not.toEqual([])
  })
})

describe('what a function returns', () => {
  const any = { outputContract: { type: 'object' } } as const
  const returned: readonly [string, () => unknown, string][] = [
    ['NaN', () => ({ list: [1, Number.NaN] }), '/list/1'],
    ['Infinity', () => ({ score: Number.POSITIVE_INFINITY }), '/score'],
    ['undefined', () => undefined, ''],
    ['undefined in a list', () => ({ list: [undefined] }), '/list/0'],
    ['a function', () => ({ deep: { call: () => 1 } }), '/deep/call'],
    ['a Map', () => ({ map: new Map() }), '/map'],
    ['a bigint', () => ({ count: 1n }), '/count'],
  ]

  it.each(returned)('%s is an invalid outcome with its place, never null', async (_, run, pointer) => {
    const app = await open({ capabilities: [local('write', wrongly(run), any)] })
    const schema = { type: 'object' }
    const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
    const done = await app.run(envelope({ outputContract: { schema } }), { draft })
    expect(done).toMatchObject({
      status: 'failed',
      failure: 'attempt/invalid',
      issues: [{ code: 'json/unrepresentable', at: { pointer } }],
    })
  })

  it('members that are undefined are left out', async () => {
    const run = () => wrongly({ text: 'Tea', note: undefined })
    const app = await open({ capabilities: [local('write', run)] })
    const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
    expect(await app.run(envelope(), { draft })).toMatchObject({ output: { text: 'Tea' } })
  })
})
