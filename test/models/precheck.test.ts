/** The reasoning precheck: off unless asked for, small, and it never fails an attempt. */
import { describe, expect, it } from 'vitest'
import type { Json, ModelRequest } from '../../src/index.ts'
import { type Fault, rehearsal } from '../../src/testing/index.ts'
import type { Dispatch } from '../../src/types.ts'
import { parseCapability } from '../seams/domain.ts'
import { agreement, modelDispatcher } from '../seams/models.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const capability = parseCapability({
  capabilityId: 'write',
  kind: 'model',
  inputContract: text,
  outputContract: text,
})

/** Says these texts in turn, and remembers what it was asked. */
function saying(texts: readonly string[]) {
  const requests: ModelRequest[] = []
  const faults: Fault = ({ index, request }) => {
    requests.push(request)
    const said = texts[index - 1]
    return said === undefined
      ? undefined
      : { kind: 'text', text: said, finish: 'stop', usage: { outputTokens: 5 } }
  }
  return { provider: rehearsal({ faults }), requests }
}

async function dispatch(
  reasoning_precheck: { readonly [key: string]: Json },
  { texts = [], inputs = {}, calls = 4 }: { texts?: readonly string[]; inputs?: Json; calls?: number },
) {
  const { provider, requests } = saying(texts)
  const events: string[] = []
  if (!capability.ok) throw new Error('unusable')
  const call: Dispatch = {
    runId: 'r',
    nodeId: 'n',
    attempt: 1,
    idempotencyKey: 'k',
    capability: capability.value,
    bundle: {
      objective: 'Brew tea',
      inputs,
      instructions: '',
      specialInstructions: [],
      returns: text,
      clarifications: [],
    },
    rao: false,
    constraints: {},
    calls,
    data: { processing: { reasoning_precheck: { enabled: true, ...reasoning_precheck } } },
    signal: new AbortController().signal,
    onEvent: (event, payload) => {
      if (/reasoning/.test(event))
        events.push(`${event}${payload?.['reason'] ? ` ${payload['reason']}` : ''}`)
    },
  }
  const result = await modelDispatcher({ providers: [provider], defaultModel: 'openai/m' }).dispatch(call)
  return { result, events, requests, task: requests.at(-1)?.prompt ?? '' }
}

const plan = { steps: 'Please: <thinking>boil water, then steep</thinking>' }
const guide = { validator_agent: 'openai/judge', inject_feedback: 'prepend' }

describe('the precheck', () => {
  it('is off by default and then says nothing', async () => {
    const { events, requests } = await dispatch({ enabled: false }, { inputs: plan })
    expect(events).toEqual([])
    expect(requests).toHaveLength(1)
  })

  it('goes through the checklist first; without the basics the validator is not asked', async () => {
    const settings = { ...guide, required_context_keys: ['brand', 'steps'] }
    const { events, requests, task, result } = await dispatch(settings, { inputs: plan })
    expect(events).toEqual(['aros.reasoning.precheck.fail checklist'])
    expect(requests).toHaveLength(1)
    expect(task.startsWith('Guidance: Missing: brand')).toBe(true)
    expect(result.outcome).toBe('ok')
  })

  it('skips the validator when there is no plan', async () => {
    const { events, requests } = await dispatch(guide, { inputs: { steps: 'none' } })
    expect(events).toEqual(['aros.reasoning.precheck.skipped there is no plan'])
    expect(requests).toHaveLength(1)
  })

  it('asks the validator with plan and goal alone, within its tokens', async () => {
    const { events, requests, task } = await dispatch(guide, {
      inputs: { ...plan, initial_input: 'A cup' },
      texts: ['{"ok": true, "score": 0.9}'],
    })
    expect(events).toEqual(['reasoning.validation', 'aros.reasoning.precheck.pass validator'])
    expect(requests[0]).toMatchObject({
      model: 'judge',
      maxOutputTokens: 200,
      prompt: '{"plan":"boil water, then steep","goal":"A cup"}',
    })
    expect(task).not.toContain('Guidance')
  })

  it.each([
    ['a verdict', '{"is_valid": false, "feedback": "Warm the pot"}'],
    [
      'a score below the threshold, whatever the verdict',
      '{"is_correct": true, "score": 0.4, "feedback": "Warm the pot"}',
    ],
  ])('lets what it found into the prompt after %s', async (_, verdict) => {
    const { events, task, result } = await dispatch(guide, { inputs: plan, texts: [verdict] })
    expect(events).toEqual(['reasoning.validation', 'aros.reasoning.precheck.fail validator'])
    expect(task.startsWith('Guidance: Warm the pot')).toBe(true)
    expect(result).toMatchObject({ outcome: 'ok', usage: { calls: 2 } })
  })

  it('puts it under a key of the inputs, or nowhere, as configured', async () => {
    const texts = ['{"ok": false, "feedback": "Warm the pot"}']
    const keyed = await dispatch({ ...guide, inject_feedback: 'context_key' }, { inputs: plan, texts })
    expect(keyed.task).toContain('"_aros_retry_guidance":"Warm the pot"')
    const unset = await dispatch({ validator_agent: 'openai/judge' }, { inputs: plan, texts })
    expect(unset.task).not.toContain('Warm the pot')
  })

  it('only reports in mode observe', async () => {
    const texts = ['{"ok": false, "feedback": "Warm the pot"}']
    const { events, task } = await dispatch({ ...guide, mode: 'observe' }, { inputs: plan, texts })
    expect(events).toContain('aros.reasoning.precheck.fail validator')
    expect(task).not.toContain('Warm the pot')
  })

  it('compares sampled plans, and has one validated where they differ', async () => {
    const settings = { ...guide, consensus_samples: 2 }
    const differ = ['boil water', 'buy a kettle first', '{"ok": false, "feedback": "Choose"}']
    const { events, task } = await dispatch(settings, { texts: differ })
    expect(events).toEqual([
      'aros.reasoning.consensus',
      'reasoning.validation',
      'aros.reasoning.precheck.fail validator',
    ])
    expect(task).toContain('Guidance: Choose')
    const agree = await dispatch(settings, { texts: ['boil the water', 'boil the water'] })
    expect(agree.events).toEqual([
      'aros.reasoning.consensus',
      'aros.reasoning.precheck.skipped there is no plan',
    ])
  })

  it('always leaves a call for the work itself', async () => {
    const { result, requests } = await dispatch(guide, { inputs: plan, calls: 1 })
    expect(requests).toHaveLength(1)
    expect(result).toMatchObject({ outcome: 'ok', usage: { calls: 1 } })
  })

  it('measures agreement by shared words', () => {
    expect(agreement(['a b', 'A, b!'])).toBe(1)
    expect(agreement(['a b', 'c d'])).toBe(0)
    expect(agreement(['a b c', 'b c d', 'a b c'])).toBeCloseTo((0.5 + 1 + 0.5) / 3)
  })
})
