/** The model planner: what the model receives, how its text becomes a draft, and what happens when it does not. */
import { modelPlanner, promptLimits, propose, prove, withBuiltins } from 'proviso/plan'
import { describe, expect, it } from 'vitest'
import type { Capability, ModelAnswer, ModelRequest, Provider } from '../../src/index.ts'
import { marketingFacets } from '../../src/presets/marketing/index.ts'
import type { DraftRequest } from '../../src/types.ts'
import { createQuickClock } from '../quick-clock.ts'
import { capability, constraint, envelope, list, object } from './support.ts'

const writer = capability('writer', { in: ['toneOfVoice'], out: ['copyVariants'] })
const given = envelope(object({ copyVariants: list() }), [], { inputs: { toneOfVoice: 'friendly' } })
const good = { nodes: [{ id: 'write', capabilityId: 'writer' }] }

const request = (more: Partial<DraftRequest> = {}): DraftRequest => ({
  envelope: given,
  facets: marketingFacets,
  capabilities: withBuiltins([writer]),
  attempt: 1,
  phase: 'initial',
  completed: [],
  signal: new AbortController().signal,
  ...more,
})

/** A model that gives these answers in turn, and remembers what it was asked. */
function scripted(...answers: (string | ModelAnswer)[]): Provider & { readonly asked: ModelRequest[] } {
  const asked: ModelRequest[] = []
  return {
    name: 'test',
    asked,
    async generate(said) {
      asked.push(said)
      const next = answers[Math.min(asked.length, answers.length) - 1] ?? ''
      return typeof next === 'string' ? { kind: 'text', text: next, finish: 'stop', usage: {} } : next
    },
  }
}

describe('what the model answers', () => {
  it('is read like any text of a model, and signed', async () => {
    const provider = scripted(
      `Sure! Here is the plan:\n\`\`\`json\n${JSON.stringify(good).replace('}]', '},]')}\n\`\`\``,
    )
    const { draft, runtime, calls } = await propose(request(), { provider, model: 'm' })
    expect(draft.nodes).toEqual(good.nodes.map((node) => ({ ...node, retry: { max: 2, backoffMs: 500 } })))
    expect(draft.metadata).toEqual({ plannerRuntime: 'model', plannerModel: 'test/m' })
    expect({ runtime, calls }).toEqual({ runtime: 'model', calls: 1 })
  })

  it('is asked for again with what was wrong, once', async () => {
    const provider = scripted('{"nodes": [{"capabilityId": "writer"}]}', JSON.stringify(good))
    const { runtime, calls } = await propose(request(), { provider, model: 'm' })
    expect({ runtime, calls }).toEqual({ runtime: 'model', calls: 2 })
    expect(provider.asked[1]?.prompt).toContain('Your last answer was no draft.')
    expect(provider.asked[1]?.prompt).toContain('/nodes/0')
  })

  it('is refused with conditions that cannot be read', async () => {
    const odd = { nodes: [{ id: 'w', capabilityId: 'writer', postConditions: [{ eval: 'x' }] }] }
    const provider = scripted(JSON.stringify(odd), JSON.stringify(good))
    expect((await propose(request(), { provider, model: 'm' })).calls).toBe(2)
  })
})

describe('the search drafts instead', () => {
  it.each<[string, ModelAnswer, string]>([
    ['is down', { kind: 'error', message: 'ECONNREFUSED' }, 'ECONNREFUSED'],
    ['is throttled', { kind: 'throttled', message: '429' }, '429'],
    ['is not reachable', { kind: 'unavailable', message: 'ENOTFOUND' }, 'ENOTFOUND'],
    ['refuses', { kind: 'refused', message: 'I cannot', usage: {} }, 'I cannot'],
  ])('when the model %s', async (_, answer, why) => {
    const { draft, runtime, reason } = await propose(request(), {
      provider: scripted(answer),
      model: 'm',
      clock: createQuickClock(),
    })
    expect(runtime).toBe('search')
    expect(reason).toContain(why)
    expect(draft.metadata).toMatchObject({
      plannerRuntime: 'search',
      plannerModel: 'test/m',
      plannerFallback: reason,
    })
    expect(prove({ ...request(), draft, version: 1 }).ok).toBe(true)
  })

  it('when the model keeps answering something else', async () => {
    const provider = scripted('I would rather not plan.')
    const { runtime, calls } = await propose(request(), { provider, model: 'm' })
    expect({ runtime, calls }).toEqual({ runtime: 'search', calls: 2 })
  })

  it('when the drafts of the model were rejected', async () => {
    const provider = scripted(JSON.stringify(good))
    expect((await propose(request({ attempt: 3 }), { provider, model: 'm' })).runtime).toBe('search')
    expect(provider.asked).toEqual([])
  })

  it('when the provider throws or never comes back', async () => {
    const throws: Provider = { name: 'bad', generate: () => Promise.reject(new Error('socket hang up')) }
    expect((await propose(request(), { provider: throws, model: 'm' })).reason).toContain('socket hang up')
    const silent: Provider = { name: 'silent', generate: () => new Promise(() => {}) }
    expect((await propose(request(), { provider: silent, model: 'm', timeoutMs: 20 })).reason).toContain(
      'too long',
    )
  })

  it('when a required capability is on no way to the contract, without asking the model', async () => {
    const policies = { planner: { selection: { require: ['gone'] } }, runtime: [] }
    const provider = scripted(JSON.stringify(good))
    const proposal = await propose(request({ envelope: { ...given, policies } }), { provider, model: 'm' })
    expect(proposal).toMatchObject({ runtime: 'search', calls: 0 })
    expect(proposal.reason).toContain('gone')
  })

  it('but not when the run has been stopped', async () => {
    const stop = new AbortController()
    const provider: Provider = {
      name: 'slow',
      generate: () => {
        stop.abort(new Error('stopped'))
        return new Promise(() => {})
      },
    }
    await expect(propose(request({ signal: stop.signal }), { provider, model: 'm' })).rejects.toThrow(
      'stopped',
    )
  })
})

describe('the prompt', () => {
  const asked = async (more: Partial<DraftRequest>, most?: number) => {
    const provider = scripted(JSON.stringify(good))
    await propose(request(more), {
      provider,
      model: 'm',
      ...(most !== undefined && { mostCapabilities: most }),
    })
    return provider.asked[0] as ModelRequest
  }

  it('has the form of a draft, facets, contracts of capabilities and eight rules', async () => {
    const { system } = await asked({})
    expect(system).toContain('"required":["nodes"]')
    expect(system).toContain('"name":"toneOfVoice"')
    expect(system).toContain('"capabilityId":"writer","kind":"execution"')
    expect(system).toContain('"needs":["toneOfVoice"],"supplies":["copyVariants"]')
    expect(system).toMatch(/\n8\. /)
  })

  it('shows only capabilities on a way from the inputs to the contract, and not more than there is room for', async () => {
    const off = capability('off', { in: ['toneOfVoice'], out: ['recommendationSet'] })
    const many = Array.from({ length: 120 }, (_, i): Capability => ({ ...writer, capabilityId: `w${i}` }))
    const { system } = await asked({ capabilities: withBuiltins([off, ...many]) })
    expect(system).not.toContain('"capabilityId":"off"')
    expect(system.match(/"capabilityId":"/g)).toHaveLength(promptLimits.capabilities)
    expect(system).toContain('(43 more are not shown)')
  })

  it('has the request, cut short and without secrets', async () => {
    const inputs = { toneOfVoice: 'friendly', long: 'x'.repeat(5_000), apiKey: 'sk-secret-1' }
    const { prompt } = await asked({ envelope: { ...given, inputs } })
    expect(prompt).toContain('objective: "Write two posts"')
    expect(prompt).toContain('"apiKey":"[redacted]"')
    expect(prompt).not.toContain('x'.repeat(promptLimits.value + 1))
    expect(prompt).not.toContain('sk-secret-1')
  })

  it('has the diagnostics of the draft before under their fixed names, and what is done', async () => {
    const contract = envelope(object({ copyVariants: list() }), [
      constraint('two', { '==': [{ var: 'copyVariants.length' }, 2] }),
    ])
    const refused = prove({ ...request({ envelope: contract }), draft: good, version: 1 })
    if (refused.ok) throw new Error('it should be refused')
    const { prompt } = await asked({
      attempt: 2,
      phase: 'replan',
      diagnostics: refused.diagnostics,
      completed: [{ id: 'brief', output: { writerBrief: 'b' } }],
      trigger: { rationale: 'Low score' },
    })
    expect(prompt).toMatch(
      /previousDiagnostics: .*"constraintId":"two".*"cause":"missing_enforcer","suggestion":"Tighten/,
    )
    expect(prompt).toContain('completedNodes: [{"id":"brief","output":{"writerBrief":"b"}}]')
    expect(prompt).toContain('Low score')
  })
})

it('is a planner by name', async () => {
  const planner = modelPlanner({ provider: scripted(JSON.stringify(good)), model: 'm' })
  expect(planner.name).toBe('test/m')
  expect((await planner.draft(request())).nodes).toMatchObject(good.nodes)
})
