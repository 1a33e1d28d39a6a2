/** The reasoning precheck of a pipeline step, as the prompts show it that a model server receives. */
import { describe, expect, it } from 'vitest'
import { compile, defineCapability, problems } from '../../pipelines/support.ts'
import { type Answer, type Asked, runOnServer } from './on-server.ts'

/** The step-level settings as the specification prints them, with the precheck switched on. */
const excerpt = `agents:
  my_agent_step:
    model: compatible/writer
    system_prompt: "You brew tea."
    processing:
      structured_output: auto          # off | auto | openai_json | outlines | xgrammar
      aop: minimal                     # off | minimal | full
      reasoning_precheck:
        enabled: true
        validator_agent: agents.plan_checker   # optional
        max_tokens: 200                        # budget cap for the precheck
        score_threshold: 0.7                   # optional scoring gate
        required_context_keys: ["initial_input"]
        inject_feedback: "prepend"             # prepend | context_key | (unset)
        retry_guidance_prefix: "Guidance: "    # for prepend mode
        context_feedback_key: "_aros_retry_guidance"  # for context_key mode
  plan_checker: { model: compatible/checker, system_prompt: "You are a strict head waiter." }
`
const brew = `${excerpt}name: tea-shop
steps:
  - name: brew
    agent: my_agent_step
    input: "Brew it. <thinking>boil, then steep</thinking>"
`

const byModel =
  (answers: Readonly<Record<string, string>>): Answer =>
  ({ model }) =>
    answers[model] ?? 'done'

const events = (logs: readonly { event: string; payload: { readonly [key: string]: unknown } }[]) =>
  logs
    .filter(({ event }) => event.includes('reasoning'))
    .map(({ event, payload }) => `${event} ${payload['reason'] ?? ''}`.trim())

const forModel = (asked: readonly Asked[], model: string) => asked.filter((each) => each.model === model)

describe('the precheck of a step', () => {
  it('passes with required_context_keys: ["initial_input"], and validates the plan against the input of the pipeline', async () => {
    const done = await runOnServer(brew, {
      input: { wish: 'a strong cup' },
      answer: byModel({ checker: '{"ok": true, "score": 0.9}', writer: 'Tea.' }),
    })
    expect(done).toMatchObject({ status: 'completed', output: 'Tea.' })
    expect(events(done.logs)).toEqual(['reasoning.validation', 'aros.reasoning.precheck.pass validator'])
    const [check] = forModel(done.asked, 'checker')
    expect(JSON.parse(check?.prompt ?? '')).toEqual({
      plan: 'boil, then steep',
      goal: { wish: 'a strong cup' },
    })
    expect(check?.maxTokens).toBe(200)
  })

  it('asks the validator with its own system prompt', async () => {
    const done = await runOnServer(brew, { input: 'a cup', answer: byModel({ checker: '{"ok": true}' }) })
    const [check] = forModel(done.asked, 'checker')
    expect(check?.system).toMatch(/^You are a strict head waiter\.\n/)
    expect(check?.system).toContain('Answer with JSON only')
    expect(check?.system).not.toContain('tea-shop')
  })

  it('does not show the model of the step what only the precheck needs', async () => {
    const done = await runOnServer(brew, { input: 'a cup', answer: byModel({ checker: '{"ok": true}' }) })
    const [work] = forModel(done.asked, 'writer')
    expect(work?.prompt).toContain('Inputs: {"input":"Brew it.')
    expect(work?.prompt).not.toContain('a cup')
  })

  it('puts a negative verdict before the prompt and continues the same attempt', async () => {
    const done = await runOnServer(brew, {
      input: 'a cup',
      answer: byModel({ checker: '{"is_valid": false, "feedback": "Warm the pot"}', writer: 'Tea.' }),
    })
    expect(done).toMatchObject({ status: 'completed', output: 'Tea.' })
    expect(forModel(done.asked, 'writer')).toHaveLength(1)
    expect(forModel(done.asked, 'writer')[0]?.prompt).toMatch(/^Guidance: Warm the pot\n/)
  })

  it('fails the checklist when the pipeline has no input, and asks no validator', async () => {
    const done = await runOnServer(brew, { answer: byModel({ writer: 'Tea.' }) })
    expect(done.status).toBe('completed')
    expect(events(done.logs)).toEqual(['aros.reasoning.precheck.fail checklist'])
    expect(forModel(done.asked, 'checker')).toHaveLength(0)
    expect(forModel(done.asked, 'writer')[0]?.prompt).toMatch(/^Guidance: Missing: initial_input\n/)
  })

  it('takes the goal and the required keys from the context that the steps before have written', async () => {
    const yaml = brew
      .replace('required_context_keys: ["initial_input"]', 'required_context_keys: [brand, goal]')
      .replace('max_tokens: 200', 'goal_context_key: goal\n        max_tokens: 200')
      .replace(
        'steps:\n',
        'context: { brand: Oolong & Sons }\nsteps:\n  - { name: aim, uses: wrap_dict, input: "sell more", params: { key: goal }, updates_context: true }\n',
      )
    const done = await runOnServer(yaml, { input: 'x', answer: byModel({ checker: '{"ok": true}' }) })
    expect(events(done.logs)).toEqual(['reasoning.validation', 'aros.reasoning.precheck.pass validator'])
    expect(JSON.parse(forModel(done.asked, 'checker')[0]?.prompt ?? '')).toMatchObject({ goal: 'sell more' })
  })

  it('sees the input of the pipeline inside of a branch', async () => {
    const yaml = `${excerpt}steps:
  - kind: conditional
    name: choose
    condition: { "==": [{ "var": "input.kind" }, "tea"] }
    branches:
      true:
        - { name: brew, agent: my_agent_step, input: "<thinking>steep</thinking>" }
`
    const done = await runOnServer(yaml, {
      input: { kind: 'tea' },
      answer: byModel({ checker: '{"ok": true}' }),
    })
    expect(done.status).toBe('completed')
    expect(JSON.parse(forModel(done.asked, 'checker')[0]?.prompt ?? '')).toMatchObject({
      goal: { kind: 'tea' },
    })
  })

  it('says before the run that nothing writes a key, and fails the checklist in it', async () => {
    const yaml = brew
      .replace('["initial_input"]', '[brnd]')
      .replace('steps:', 'context: { brand: x }\nsteps:')
    expect(compile(yaml, { input: 'x' }).notes).toMatchObject([
      { code: 'pipeline/precheck-key', message: expect.stringContaining('brnd') },
    ])
    const done = await runOnServer(yaml, { input: 'x', answer: () => 'Tea.' })
    expect(events(done.logs)).toEqual(['aros.reasoning.precheck.fail checklist'])
    expect(done.status).toBe('completed')
  })

  it('works for a step that uses a model capability of your own', async () => {
    const own = defineCapability({
      capabilityId: 'shop.brew',
      kind: 'model',
      preferredModels: ['compatible/writer'],
      inputContract: { type: 'object', properties: { text: { type: 'string' } } },
      outputContract: { type: 'string' },
    })
    const yaml = `agents: { checker: { model: compatible/checker } }
steps:
  - name: brew
    uses: shop.brew
    input: { text: "<thinking>steep</thinking>" }
    processing:
      reasoning_precheck: { enabled: true, validator_agent: agents.checker, required_context_keys: [initial_input] }
`
    const done = await runOnServer(yaml, {
      input: 'a cup',
      own: [own],
      answer: byModel({ checker: '{"ok": true}' }),
    })
    expect(events(done.logs)).toEqual(['reasoning.validation', 'aros.reasoning.precheck.pass validator'])
    expect(JSON.parse(forModel(done.asked, 'checker')[0]?.prompt ?? '')).toEqual({
      plan: 'steep',
      goal: 'a cup',
    })
    expect(forModel(done.asked, 'writer')[0]?.prompt).not.toContain('a cup')
  })

  it('finds the plan anywhere in the input of the step', async () => {
    const yaml = brew.replace(
      'input: "Brew it. <thinking>boil, then steep</thinking>"',
      'input: { task: Brew, notes: ["<thinking>{{ input }}, then steep</thinking>"] }',
    )
    const done = await runOnServer(yaml, { input: 'boil', answer: byModel({ checker: '{"ok": true}' }) })
    expect(JSON.parse(forModel(done.asked, 'checker')[0]?.prompt ?? '')).toMatchObject({
      plan: 'boil, then steep',
    })
  })

  it('uses the default model for a validator that names none', async () => {
    const yaml = brew.replace('{ model: compatible/checker, ', '{ ')
    const done = await runOnServer(yaml, { input: 'x', answer: () => '{"ok": true}' })
    expect(done.asked[0]?.system).toMatch(/^You are a strict head waiter\./)
  })

  it('samples plans from the input of the step, with the prompt of the agent that writes them', async () => {
    const consensus = (more = '') =>
      brew
        .replace('max_tokens: 200', `consensus_samples: 2${more}\n        max_tokens: 200`)
        .replace('Brew it. <thinking>boil, then steep</thinking>', 'Brew it for {{ input }}')
    const own = await runOnServer(consensus(), {
      input: 'Ada',
      answer: ({ system, prompt, model }) =>
        model === 'checker'
          ? '{"ok": false, "feedback": "Choose"}'
          : system.includes('five short lines')
            ? prompt.includes('Sample 1')
              ? 'boil the water'
              : 'buy a kettle first'
            : 'Tea.',
    })
    const samples = own.asked.filter(({ system }) => system.includes('five short lines'))
    expect(samples).toHaveLength(2)
    for (const { system, prompt } of samples) {
      expect(system).toMatch(/^You brew tea\.\n/)
      expect(prompt).toContain('Inputs: {"input":"Brew it for Ada"}')
    }
    expect(own.asked.at(-1)?.prompt).toMatch(/^Guidance: Choose\n/)

    const other = await runOnServer(
      consensus('\n        consensus_agent: agents.planner').replace(
        'name: tea-shop',
        '  planner: { model: compatible/planner, system_prompt: "You plan." }\nname: tea-shop',
      ),
      { input: 'Ada', answer: byModel({ planner: 'boil water', writer: 'Tea.' }) },
    )
    expect(forModel(other.asked, 'planner').map(({ system }) => system)).toEqual([
      expect.stringMatching(/^You plan\.\n/),
      expect.stringMatching(/^You plan\.\n/),
    ])
  })

  it('refuses an agent that is not there, with its line', () => {
    expect(problems(brew.replace('agents.plan_checker', 'agents.plan_cheker'))).toMatchObject([
      { code: 'pipeline/unknown', line: 10, hint: 'Did you mean plan_checker?' },
    ])
  })
})
