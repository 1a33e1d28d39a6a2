/** The reasoning precheck of steps inside maps and loops: as outside, for every item and every round. */
import { describe, expect, it } from 'vitest'
import { compile } from '../../pipelines/support.ts'
import { type Answer, type Asked, runOnServer } from './on-server.ts'

const agents = (more: string) => `agents:
  writer:
    model: compatible/writer
    system_prompt: "You brew tea."
    processing:
      reasoning_precheck: { enabled: true, validator_agent: agents.checker, inject_feedback: prepend, ${more} }
  checker: { model: compatible/checker, system_prompt: "You are a strict head waiter." }
`
const map = (more: string, head = '') => `${agents(more)}name: tea-shop
${head}steps:
  - name: each
    kind: map
    map:
      iterable_input: "{{ input.cups }}"
      body:
        - { name: brew, agent: writer, input: "<thinking>steep {{ item }}</thinking>" }
`
const loop = (more: string, head = '') => `${agents(more)}name: tea-shop
${head}steps:
  - name: again
    kind: loop
    loop:
      max_loops: 2
      on_max_loops: accept
      body:
        - { name: brew, agent: writer, input: "<thinking>steep</thinking>" }
`

const byModel =
  (answers: Readonly<Record<string, string>>): Answer =>
  ({ model }) =>
    answers[model] ?? 'Tea.'
const forModel = (asked: readonly Asked[], model: string) => asked.filter((each) => each.model === model)
const checks = (asked: readonly Asked[]) =>
  forModel(asked, 'checker').map(({ prompt }) => JSON.parse(prompt) as { plan: string; goal: unknown })
const events = (logs: readonly { event: string; payload: { readonly [key: string]: unknown } }[]) =>
  logs
    .filter(({ event }) => event.startsWith('aros.reasoning'))
    .map(({ event, payload }) => `${event} ${payload['reason'] ?? ''}`.trim())
const input = { cups: ['oolong', 'assam'] }
const pass = 'aros.reasoning.precheck.pass validator'

describe('a precheck in the body of a map', () => {
  it('passes with initial_input, and shows each plan to the validator with the goal and its own prompt', async () => {
    const done = await runOnServer(map('required_context_keys: [initial_input]'), {
      input,
      answer: byModel({ checker: '{"ok": true}' }),
    })
    expect(done).toMatchObject({ status: 'completed', output: ['Tea.', 'Tea.'] })
    expect(events(done.logs)).toEqual([pass, pass])
    expect(
      checks(done.asked)
        .map(({ plan }) => plan)
        .sort(),
    ).toEqual(['steep assam', 'steep oolong'])
    for (const { goal } of checks(done.asked)) expect(goal).toEqual(input)
    for (const { system } of forModel(done.asked, 'checker'))
      expect(system).toMatch(/^You are a strict head waiter\.\n/)
    for (const { prompt } of forModel(done.asked, 'writer')) expect(prompt).not.toContain('cups')
  })

  it('takes the goal and the required keys from the context outside of it', async () => {
    const yaml = map(
      'required_context_keys: [brand, goal], goal_context_key: goal',
      'context: { brand: Oolong & Sons }\n',
    ).replace(
      'steps:\n  - name: each',
      'steps:\n  - { name: aim, uses: wrap_dict, input: "sell more", params: { key: goal }, updates_context: true }\n  - name: each',
    )
    const done = await runOnServer(yaml, { input, answer: byModel({ checker: '{"ok": true}' }) })
    expect(done.status).toBe('completed')
    expect(events(done.logs)).toEqual([pass, pass])
    expect(checks(done.asked).map(({ goal }) => goal)).toEqual(['sell more', 'sell more'])
  })

  it('takes required keys from what a step of the same body has written', async () => {
    const yaml = map('required_context_keys: [cup]').replace(
      '        - { name: brew',
      '        - { name: pour, uses: wrap_dict, input: "{{ item }}", params: { key: cup }, updates_context: true }\n        - { name: brew',
    )
    const done = await runOnServer(yaml, { input, answer: byModel({ checker: '{"ok": true}' }) })
    expect(done.status).toBe('completed')
    expect(events(done.logs)).toEqual([pass, pass])
  })

  it('fails the checklist without the key, asks no validator, and guides the same attempt', async () => {
    const done = await runOnServer(map('required_context_keys: [brnd]', 'context: { brand: x }\n'), {
      input,
      answer: byModel({}),
    })
    expect(done.status).toBe('completed')
    expect(events(done.logs)).toEqual(Array(2).fill('aros.reasoning.precheck.fail checklist'))
    expect(forModel(done.asked, 'checker')).toHaveLength(0)
    for (const { prompt } of forModel(done.asked, 'writer'))
      expect(prompt).toMatch(/^Guidance: Missing: brnd\n/)
  })

  it('guides an item whose score is too low, and no other', async () => {
    const done = await runOnServer(map('score_threshold: 0.7'), {
      input,
      answer: ({ model, prompt }) =>
        model === 'checker'
          ? `{"ok": true, "score": ${prompt.includes('steep assam') ? 0.5 : 0.9}, "feedback": "Warm the pot"}`
          : 'Tea.',
    })
    const guided = forModel(done.asked, 'writer').filter(({ prompt }) => prompt.startsWith('Guidance: '))
    expect(guided).toHaveLength(1)
    expect(guided[0]?.prompt).toContain('assam')
  })
})

describe('a precheck in the body of a loop', () => {
  it('checks every round against the input of the pipeline', async () => {
    const done = await runOnServer(loop('required_context_keys: [initial_input]'), {
      input,
      answer: byModel({ checker: '{"ok": true}' }),
    })
    expect(done).toMatchObject({ status: 'completed' })
    expect(events(done.logs)).toEqual([pass, pass])
    expect(checks(done.asked).map(({ goal }) => goal)).toEqual([input, input])
    for (const { system } of forModel(done.asked, 'checker'))
      expect(system).toMatch(/^You are a strict head waiter\.\n/)
  })

  it('takes the goal from the context that a step before the loop has written', async () => {
    const yaml = loop('required_context_keys: [goal], goal_context_key: goal').replace(
      'steps:\n  - name: again',
      'steps:\n  - { name: aim, uses: wrap_dict, input: "sell more", params: { key: goal }, updates_context: true }\n  - name: again',
    )
    const done = await runOnServer(yaml, { input, answer: byModel({ checker: '{"ok": true}' }) })
    expect(events(done.logs)).toEqual([pass, pass])
    expect(checks(done.asked).map(({ goal }) => goal)).toEqual(['sell more', 'sell more'])
  })
})

it('says once, before the run, that nothing writes a key', () => {
  expect(compile(map('required_context_keys: [brnd]'), { input }).notes).toMatchObject([
    { code: 'pipeline/precheck-key', message: expect.stringContaining('brnd') },
  ])
})
