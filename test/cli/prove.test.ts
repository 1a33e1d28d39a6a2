/** Promises of `proviso prove`, tested on the built file: the plan, the marks, what would fix it, and every exit code. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { proviso, root, runCommand } from '../support.ts'
import { file, runFile, text } from './run-support.ts'

const prove = (name: string, content: unknown, ...args: string[]) =>
  runCommand(['prove', file(name, content), '--assume-providers', ...args])
const marketing = ['--preset', 'marketing']
const sample = join(root, 'examples/envelopes/linkedin-variants.json')

const score = { '>=': [{ var: 'qaFindings.overallScore' }, 0.8] }
const posts = (constraints: readonly object[], inputs: object = { toneOfVoice: 'friendly' }) => ({
  objective: 'Two posts',
  inputs,
  outputContract: {
    schema: {
      type: 'object',
      properties: { copyVariants: { type: 'array', minItems: 2, maxItems: 2 } },
      required: ['copyVariants'],
    },
    constraints,
  },
})

describe('proviso prove', () => {
  it('0: shows what a map runs', async () => {
    const pipeline = `name: p
agents: { w: { model: "openai/m", system_prompt: W. } }
steps: [{ name: each, kind: map, map: { iterable_input: "{{ input }}", body: [{ name: s, agent: w, input: "{{ item }}" }] } }]
`
    const path = file('map.yaml', pipeline)
    const done = await runCommand(['prove', path, '--input', '["a"]', '--assume-providers'])
    expect(done.stdout).toContain('map, runs s (p/agents.w)')
  })

  it('0: plans an envelope, and shows the plan with a mark for the answer', async () => {
    const done = await runCommand(['prove', sample, '--assume-providers'])
    expect(done.code).toBe(0)
    expect(done.stdout).toContain('✓ accepted, satisfaction 1\n')
    expect(done.stdout).toContain(
      'The plan\n  · Answer (answer)  execution, proviso.answer, supplies copyVariants\n',
    )
    expect(done.stdout).toContain('The answer\n  ✓ copyVariants  certain, by answer')
    expect(done.stderr).toContain('the flat policy "brandVoice" was read as')
  })

  it('0: draws a tree, and distinguishes what is certain from what is checked while it runs', async () => {
    const two = { constraintId: 'two', level: 'hard', expr: { '==': [{ var: 'copyVariants.length' }, 2] } }
    const good = { constraintId: 'good', level: 'hard', expr: score }
    const wish = { constraintId: 'wish', level: 'soft', expr: { '>': [{ var: 'copyVariants.length' }, 5] } }
    const done = await prove('tree.json', posts([two, good, wish]), ...marketing)
    expect(done.code).toBe(0)
    expect(done.stdout).toContain('accepted with findings')
    expect(done.stdout).toMatch(/· Structure \(structure\).*\n {2}└─ · Strategy Manager \(briefing\)/)
    expect(done.stdout).toMatch(/✓ two .*certain, by linkedinVariants/)
    expect(done.stdout).toMatch(/~ good .*checked while it runs at contentReview/)
    expect(done.stdout).toMatch(/! wish .*a wish that is not certain/)
  })

  it('0: shows what is left to the run apart, and no node as failed that only guards', async () => {
    const good = { constraintId: 'good', level: 'hard', expr: score }
    const done = await prove('guard.json', posts([good]), ...marketing)
    expect(done.code).toBe(0)
    expect(done.stdout).not.toContain('✗')
    expect(done.stdout).not.toContain('Not met')
    expect(done.stdout).toMatch(/Not certain before it runs\n {2}~ qaFindings\.overallScore >= 0\.8/)
  })

  it('3: names the constraints that contradict each other before each of them', async () => {
    const length = (constraintId: string, operator: string, bound: number) => ({
      constraintId,
      level: 'hard',
      expr: { [operator]: [{ var: 'total' }, bound] },
    })
    const schema = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] }
    const constraints = [length('high', '>', 5), length('low', '<', 3)]
    const done = await prove('conflict.json', {
      objective: 'A number',
      outputContract: { schema, constraints },
    })
    expect(done.code).toBe(3)
    expect(done.stdout).toMatch(/how to fix it\n.*\(total > 5\) and \(total < 3\)/)
    expect(done.stdout).toContain('Change it or low: no value satisfies all of them')
  })

  it('3: refuses a contract that nothing can satisfy', async () => {
    const total = { type: 'number', minimum: 5, maximum: 3 }
    const schema = { type: 'object', properties: { total }, required: ['total'] }
    const done = await prove('vacant.json', { objective: 'A number', outputContract: { schema } })
    expect(done.code).toBe(3)
    expect(done.stdout).toContain("not shown: some value satisfies the caller's schema")
    expect(done.stdout).not.toContain('certain, by')
  })

  it('3: says what was probably meant', async () => {
    const slip = { level: 'hard', expr: { '>': [{ var: 'copyVariant.length' }, 1] } }
    const policies = { planner: { selection: { require: ['proviso.anser'] } } }
    const done = await prove('slip.json', { ...posts([slip]), policies })
    expect(done.code).toBe(3)
    expect(done.stdout).toContain('Did you mean copyVariants?')
    expect(done.stdout).toContain('proviso.anser is not registered or not active')
    expect(done.stdout).toContain('Did you mean proviso.answer?')
  })

  it('2: refuses a kind of node that does not exist', async () => {
    const policies = { planner: { topology: { requiredKinds: ['validate'] } } }
    const done = await prove('kind.json', { ...posts([]), policies })
    expect(done.code).toBe(2)
    expect(done.stderr).toContain('must be one of "structuring"')
  })

  it('3: says what is missing and what would fix it', async () => {
    const done = await prove('missing.json', posts([{ constraintId: 'good', level: 'hard', expr: score }]))
    expect(done.code).toBe(3)
    expect(done.stdout).toContain('✗ rejected')
    expect(done.stdout).toMatch(/✗ good .*not to be had/)
    expect(done.stdout).toContain('No active capability supplies qaFindings.overallScore')
  })

  it('3: holds the draft of a file to the same', async () => {
    const done = await prove('draft.json', runFile({ node: { capabilityId: 'wriet' } }))
    expect(done.code).toBe(3)
    expect(done.stdout).toContain('✗ write')
    expect(done.stdout).toContain('Active: write')
    expect((await prove('good.json', runFile())).code).toBe(0)
  })

  it('3: rejects an output contract of a node that its capability can never satisfy', async () => {
    const output = { type: 'object', properties: { text: { type: 'integer' } }, required: ['text'] }
    const done = await prove('contradiction.json', runFile({ node: { contracts: { output } } }))
    expect(done.code).toBe(3)
    expect(done.stdout).toContain('✗ write')
    expect(done.stdout).toContain('Change "text" in contracts.output of "write"')
  })

  it('2: a file that cannot be used, with every issue and its place', async () => {
    const done = await prove('odd.json', { objective: 'x', outputContract: {} })
    expect(done).toMatchObject({ code: 2, stdout: '' })
    expect(done.stderr).toContain('/outputContract')
    expect((await runCommand(['prove', 'nowhere.json'])).code).toBe(2)
  })

  it('explains every choice with --why', async () => {
    const done = await prove('why.json', posts([]), ...marketing, '--why')
    expect(done.stdout).toMatch(/copyVariants ← linkedinVariants .*score 0\.\d\d\); else proviso\.answer/)
    expect(done.stdout).toContain('toneOfVoice for briefing ← envelope /inputs/toneOfVoice')
  })

  it('prints one object with --json', async () => {
    const done = await prove(
      'json.json',
      { objective: 'One line', outputContract: { schema: text } },
      '--json',
    )
    const said = JSON.parse(done.stdout)
    expect(said).toMatchObject({
      accepted: true,
      status: 'accepted',
      satisfactionScore: 1,
      answer: [{ name: 'text', verdict: 'proved', by: 'answer' }],
      constraints: [],
      plan: { version: 1, metadata: { plannerRuntime: 'search' } },
    })
    expect(said.choices[0]).toMatchObject({ wanted: 'text', taken: 'answer' })
  })

  it('3: says what run says where a model has no provider', async () => {
    const alone = file('no-key.json', { objective: 'x', outputContract: { schema: text } })
    const [proved, ran] = [await runCommand(['prove', alone]), await runCommand(['run', alone])]
    expect([proved.code, ran.code]).toEqual([3, 3])
    for (const said of [proved.stdout, ran.stderr]) expect(said).toContain('Set OPENAI_API_KEY')
    const keyed = await proviso(['prove', alone], { env: { OPENAI_API_KEY: 'sk-none' } })
    expect(keyed.code).toBe(0)
  })

  it('lets run take an envelope alone as well', async () => {
    const done = await runCommand([
      'run',
      file('alone.json', { objective: 'x', outputContract: { schema: text } }),
    ])
    // Nothing can be planned without a model; the message says what to set.
    expect(done.code).toBe(3)
    expect(done.stderr).toContain('has no provider; Set OPENAI_API_KEY')
  })
})
