/** Behaviour of single rules beyond their examples: when they report nothing, and when the severity differs. */
import { describe, expect, it } from 'vitest'
import { compilePipeline } from '../compile/compile-pipeline.ts'
import { parsePipeline } from '../parse/parse-pipeline.ts'
import { readYaml } from '../yaml/read-yaml.ts'
import { fixText } from './fix.ts'
import { lint } from './lint.ts'
import { ruleNamed } from './rule-table.ts'

const agents = `agents:
  plain: { model: m, system_prompt: W. }
  lister: { model: m, system_prompt: W., output_schema: { type: array, items: { type: object, required: [a], properties: { a: { type: string } } } }, processing: { structured_output: auto } }
  judge: { model: m, system_prompt: W., output_schema: { type: object, required: [good], properties: { good: { type: boolean }, why: { type: string } } }, processing: { structured_output: auto } }
  closed: { model: m, system_prompt: W., output_schema: { type: object, properties: { a: { type: string } }, additionalProperties: false }, processing: { structured_output: auto } }
  loose: { model: m, system_prompt: W., output_schema: { type: object, additionalProperties: { type: string } }, processing: { structured_output: auto } }
`

/** Rule and severity of each finding, in the order of the file. */
function found(text: string): string[] {
  const read = readYaml(text, 'p.yaml')
  if (!read.ok) throw new Error(JSON.stringify(read.issues))
  return lint(read.document).issues.map(({ code, severity }) => `${code} ${severity}`)
}

const ofSteps = (...steps: readonly string[]) => found(`${agents}steps: [${steps.join(', ')}]\n`)

describe('errors that say that the pipeline is not run', () => {
  it.each(['V-A2', 'V-A4', 'V-C2', 'V-T4', 'V-T5', 'LOOP-001'])('%s: it is not', (id) => {
    const read = readYaml(ruleNamed(id)?.bad ?? '', 'bad.yaml')
    const parsed = read.ok ? parsePipeline(read.document) : read
    expect(parsed.ok && compilePipeline(parsed.pipeline, { input: ['x'] }).ok).toBe(false)
  })
})

describe('V-A2', () => {
  const over = (path: string, name = 'm') =>
    `{ kind: map, name: ${name}, map: { iterable_input: "${path}", body: [{ name: i, agent: plain }] } }`

  it('knows lists inside objects, of the input and of maps, and leaves alone what is not known', () => {
    expect(ofSteps('{ name: l, agent: lister }', over('{{ previous_step }}'))).toEqual([])
    expect(ofSteps('{ name: l, agent: lister }', over('steps.l.output'))).toEqual([])
    expect(ofSteps('{ name: l, uses: my.own }', over('{{ previous_step.x }}'))).toEqual([])
    expect(ofSteps(over('input'), over('previous_step', 'n'))).toEqual([])
    expect(ofSteps('{ name: j, agent: judge }', over('{{ previous_step }}'))).toEqual(['V-A2 error'])
    expect(ofSteps('{ name: l, agent: lister }', over('All of {{ previous_step | tojson }}'))).toEqual([
      'V-A2 error',
    ])
    expect(found(`input_schema: { type: string }\n${agents}steps: [${over('input')}]\n`)).toEqual([
      'V-A2 error',
    ])
  })

  it('says that an object names no branch: a warning where another one is taken', () => {
    const choice = (more: string) =>
      `{ kind: conditional, name: c, condition_expression: "{{ previous_step }}", ${more} branches: { a: [{ name: x, agent: plain }] } }`
    expect(ofSteps('{ name: j, agent: judge }', choice(''))).toEqual(['V-A2 error'])
    expect(ofSteps('{ name: j, agent: judge }', choice('default_branch: a,'))).toEqual(['V-A2 warning'])
    expect(ofSteps('{ name: j, agent: plain }', choice(''))).toEqual([])
  })
})

describe('V-A2-TYPE', () => {
  it('finds members in validate_fields that the schema rules out', () => {
    const fields = (agent: string) => ofSteps(`{ name: s, agent: ${agent}, validate_fields: [b] }`)
    expect(fields('closed')).toEqual(['V-A2-TYPE error'])
    expect(fields('plain')).toEqual(['V-A2-TYPE error'])
    expect(fields('judge')).toEqual([])
  })
})

describe('V-A8 and V-S3', () => {
  const judged = 'output_schema: { type: object, properties: { a: { type: string } } }'
  const under = (processing: string, more = 'agent: j') =>
    `agents: { j: { model: m, ${judged} }, plain: { model: m } }\nsteps:\n  - name: s\n    ${more}\n    meta: { processing: ${processing} }\n`

  it('know the processing under meta', () => {
    expect(found(under('{ structured_output: auto }'))).toEqual([])
    expect(found(under('{ structured_output: off }'))).toEqual([])
    expect(found(under('{ aop: full }'))).toEqual(['V-A8 warning'])
    expect(found(under('{ structured_output: auto }', 'agent: plain'))).toEqual(['V-S3 warning'])
  })

  it('is fixed there, and keeps what else it says', () => {
    const { text } = fixText(under('{ aop: minimal }'))
    expect(text).toContain('meta: { processing: { aop: minimal, structured_output: openai_json, schema: ')
    expect(found(text)).toEqual([])
  })

  it('writes the schema of the agent, whatever its anchor stands for at the step', () => {
    const schema = (name: string) =>
      `&s { type: object, required: [${name}], properties: { ${name}: { type: string } } }`
    const given = `agents:\n  a: { model: m, output_schema: ${schema('one')} }\n  b: { model: m, output_schema: ${schema('two')} }\n`
    const steps = 'steps:\n  - name: first\n    agent: a\n  - name: second\n    agent: b\n'
    const copied = (text: string) => {
      const read = readYaml(fixText(text).text)
      const value = read.ok
        ? (read.document.value as { steps: { processing?: { schema: { required: string[] } } }[] })
        : { steps: [] }
      return value.steps.map(({ processing }) => processing?.schema.required)
    }
    expect(copied(given + steps)).toEqual([['one'], ['two']])
    expect(copied(steps + given)).toEqual([['one'], ['two']])
    expect(fixText(given + steps).text).toContain('schema: *s')
  })

  it('leaves a meta alone that others share', () => {
    const shared = `agents: { j: { model: m, ${judged} }, plain: { model: m } }\nsteps:\n  - name: s\n    agent: plain\n    meta: &m { processing: { aop: minimal } }\n  - name: t\n    agent: j\n    meta: *m\n`
    const { text } = fixText(shared)
    expect(text).toContain('meta: &m { processing: { aop: minimal } }\n')
    expect(text).toContain('processing: {"aop":"minimal", structured_output: openai_json')
    expect(found(text)).toEqual([])
  })
})

describe('branches that are called like keys of a step', () => {
  it.each(['agent', 'name', 'uses', 'kind'])('%s: their content is checked', (name) => {
    const branches = `branches: { ${name}: [{ name: x, agent: plain, input: "{{ input | uper }}" }], other: [{ name: y, agent: plain }] }`
    for (const step of [
      `{ kind: conditional, name: c, condition_expression: "{{ input }}", default_branch: other, ${branches} }`,
      `{ kind: parallel, name: c, ${branches} }`,
      `{ kind: router, name: c, router: { router_agent: plain, ${branches} } }`,
    ])
      expect(ofSteps(step)).toEqual(['V-T3 error'])
  })
})

describe('a branch that is one step', () => {
  it('gives the step its name, as it does in the run', () => {
    const text = `${agents}steps: [{ kind: parallel, name: p, branches: { short: { agent: plain, updates_context: true } } }]\n`
    const read = readYaml(text)
    expect(read.ok && lint(read.document).issues).toMatchObject([{ code: 'V-C1', step: 'short' }])
  })
})

describe('V-A3', () => {
  it('is silent where nothing names the step, and where the branches do not see each other', () => {
    const loop = (input: string) =>
      `{ kind: loop, name: l, loop: { max_loops: 2, on_max_loops: accept, body: [{ name: a, agent: plain }, { name: b, agent: plain, input: "${input}" }] } }`
    expect(ofSteps('{ name: a, agent: plain }', loop('{{ previous_step }}'))).toEqual([])
    expect(ofSteps('{ name: a, agent: plain }', loop('{{ steps.a.output }}'))).toEqual(['V-A3 warning'])
    const branch = '[{ name: a, agent: plain }, { name: b, agent: plain, input: "{{ steps.a.output }}" }]'
    expect(ofSteps(`{ kind: parallel, name: p, branches: { x: ${branch}, y: ${branch} } }`)).toEqual([])
  })
})

describe('V-A4', () => {
  it('warns of parameters that nothing reads, and requires a schema for extract_from_text', () => {
    expect(ofSteps('{ name: a, agent: plain, params: { key: x } }')).toEqual(['V-A4 warning'])
    expect(ofSteps('{ name: a, uses: extract_from_text }')).toEqual(['V-A4 error'])
    expect(ofSteps('{ name: a, uses: flujo.builtins.wrap_dict, params: { key: x } }')).toEqual([])
    expect(ofSteps('{ name: a, uses: my.own, params: { anything: x } }')).toEqual([])
  })
})

describe('V-T5', () => {
  const names = (agent: string, path: string) =>
    ofSteps(`{ name: a, agent: ${agent} }`, `{ name: b, agent: plain, input: "Of {{ ${path} }}" }`)

  it('is an error where the schema rules it out, else a warning, and silent where others may come', () => {
    expect(names('judge', 'previous_step.why')).toEqual([])
    expect(names('judge', 'steps.a.output.whi')).toEqual(['V-T5 warning'])
    expect(names('judge', "previous_step.whi | default('x')")).toEqual([])
    expect(names('closed', 'steps.a.b')).toEqual(['V-T5 error'])
    expect(names('loose', 'previous_step.b')).toEqual([])
    expect(names('lister', 'previous_step[0].a')).toEqual([])
    expect(names('lister', 'previous_step[0].b')).toEqual(['V-T5 warning'])
    expect(names('plain', 'previous_step.output')).toEqual(['V-T1 warning'])
  })

  it('knows items of maps, branches, wrapped values and the input', () => {
    const body = (path: string) =>
      `{ kind: map, name: m, map: { iterable_input: previous_step, body: [{ name: i, agent: plain, input: "{{ ${path} }}" }] } }`
    expect(ofSteps('{ name: l, agent: lister }', body('item.a'))).toEqual([])
    expect(ofSteps('{ name: l, agent: lister }', body('item.b'))).toEqual(['V-T5 warning'])
    const wrap = '{ name: w, uses: wrap_dict, params: { key: k } }'
    expect(ofSteps(wrap, '{ name: b, agent: plain, input: "{{ previous_step.q }}" }')).toEqual([
      'V-T5 warning',
    ])
    const both =
      '{ kind: parallel, name: p, branches: { x: { agent: plain }, y: [{ name: s, agent: judge }] } }'
    const behind = (path: string) => `{ name: b, agent: plain, input: "{{ ${path} }}" }`
    expect(ofSteps(both, behind('previous_step.y.good'))).toEqual([])
    expect(ofSteps(both, behind('steps.p.output.x.good'))).toEqual(['V-T5 error'])
    const input = 'input_schema: { type: object, properties: { topic: true }, additionalProperties: false }\n'
    expect(found(`${input}${agents}steps: [${behind('input.topci')}]\n`)).toEqual(['V-T5 error'])
  })
})

describe('V-T4 and LOOP-001', () => {
  it('see what comes before in all lists around, and no more', () => {
    const inner = (name: string) =>
      `{ kind: conditional, name: c, condition: true, branches: { true: [{ name: x, agent: plain, input: "{{ steps.${name}.output }}" }] } }`
    expect(ofSteps('{ name: a, agent: plain }', inner('a'))).toEqual([])
    expect(ofSteps('{ name: a, agent: plain }', inner('c'))).toEqual(['V-T4 error'])
    const after = '{ name: z, agent: plain, input: "{{ previous_step }}{{ steps.x.output }}" }'
    expect(ofSteps('{ name: a, agent: plain }', inner('a'), after)).toEqual(['V-T4 error'])
  })
})

describe('V-CF1', () => {
  const loop = (condition: string, more = '', body = '{ name: j, agent: judge, sink_to: last }') =>
    ofSteps(
      `{ kind: loop, name: l, loop: { max_loops: 3, ${more} exit_condition: ${condition}, body: [${body}] } }`,
    )

  it('is silent when a round can change the outcome', () => {
    for (const path of ['previous_step.good', 'steps.j.output.good', 'iteration', 'context.last.good'])
      expect(loop(`{ "==": [{ var: ${path} }, 2] }`)).toEqual([])
    const unknown = '{ name: j, uses: my.own, updates_context: true }'
    expect(loop('{ "==": [{ var: context.done }, true] }', '', unknown)).toEqual([])
  })

  it('is an error where every run must fail', () => {
    expect(loop('{ "==": [1, 2] }')).toEqual(['V-CF1 error'])
    expect(loop('{ "==": [1, 2] }', 'on_max_loops: accept,')).toEqual(['V-CF1 warning'])
    expect(loop('true')).toEqual(['V-CF1 warning'])
    expect(loop('{ "==": [{ var: context.other }, true] }')).toEqual(['V-CF1 warning'])
  })
})

describe('V-CTX1', () => {
  it('is an error where nothing puts the member there before', () => {
    const both = `{ kind: parallel, name: p, branches: { x: [{ name: a, agent: plain, sink_to: k }], y: [{ name: b, agent: plain, input: "{{ context.k }}" }] } }`
    expect(ofSteps(both)).toEqual(['V-CTX1 error'])
    expect(ofSteps('{ name: first, agent: plain, sink_to: k }', both)).toEqual(['V-CTX1 warning'])
    const own = both.replace('{ name: b,', '{ name: c, agent: plain, sink_to: k }, { name: b,')
    expect(ofSteps(own)).toEqual(['V-P2 warning'])
  })
})

describe('V-T6', () => {
  const input = (text: string, who = 'uses: ensure_object') =>
    ofSteps(`{ name: a, ${who}, input: '${text}' }`)

  it('takes JSON that stays JSON, and prompts that look like it', () => {
    expect(input('{"a": {{ input | tojson }} }')).toEqual([])
    expect(input('{"a": "{{ input }}" }', 'agent: plain')).toEqual([])
    expect(input('{{ input }}')).toEqual([])
    expect(input('{"a": 1}')).toEqual([])
  })

  it('reports text that is not JSON before, or may not be JSON after', () => {
    for (const text of ['{a: {{ input | tojson }} }', '{"a": "{{ input | tojson }}"}', '[{{ input }}]'])
      expect(input(text)).toEqual(['V-T6 warning'])
  })
})

describe('V-C2', () => {
  const text = (sink: string, input: string, more = '') =>
    `${more}${agents}steps:\n  - { name: one, agent: plain, sink_to: ${sink} }\n  - { name: two, agent: plain, input: "${input}" }\n`

  it('is fixed with all that reads it', () => {
    const { text: fixed, applied } = fixText(
      text('scratchpad.draft', 'A {{ context.scratchpad.draft | upper }}'),
    )
    expect(applied.map(({ rule }) => rule)).toEqual(['V-C2'])
    expect(fixed).toContain('sink_to: draft }')
    expect(fixed).toContain('"A {{ context.draft | upper }}"')
    expect(found(fixed)).toEqual([])
  })

  it('is left to the author where names or meanings are not clear', () => {
    const given = 'context: { plan: { day: 1 } }\n'
    expect(found(text('plan', '{{ context.plan.day }}', given))).toContain('V-C2 error')
    for (const unclear of [
      text('plan', '{{ context.plan.day }}', given),
      `${text('scratchpad.k', 'x {{ previous_step }}')}  - { kind: conditional, name: c, condition: { "==": [{ var: context.scratchpad.k }, 1] }, branches: { true: [{ name: t, agent: plain }] } }\n`,
    ])
      expect(fixText(unclear).applied.filter(({ rule }) => rule === 'V-C2')).toEqual([])
  })

  it('keeps two steps that write one member together', () => {
    const both = text('scratchpad.k', '{{ context.scratchpad.k }}').replace(
      '  - { name: two',
      '  - { name: more, agent: plain, sink_to: context.scratchpad.k }\n  - { name: two',
    )
    const { text: fixed } = fixText(both)
    expect(fixed.match(/sink_to: \S+/g)).toEqual(['sink_to: k', 'sink_to: k'])
    expect(fixed).toContain('{{ context.k }}')
  })
})

describe('V-A5 and V-C1', () => {
  it('are fixed without removing a member of the context that other steps read', () => {
    const text = `context: { good: mine, two: kept }
${agents}steps:
  - { name: one, agent: judge }
  - { name: two, agent: plain, input: "About {{ context.good }}", updates_context: true }
  - { name: three, agent: plain, input: "{{ context.two }} {{ context.good }}", sink_to: two_output }
  - { name: four, agent: plain, input: "{{ context.two_output }}" }
`
    const fixed = fixText(text).text
    expect(found(fixed)).toEqual([])
    expect(fixed).not.toContain('agent: judge, updates_context')
    expect(fixed).toMatch(/key: one\n/)
    expect(fixed).toMatch(/key: two_output_2\n/)
  })
})

describe('HITL-NESTED-001', () => {
  it('says nothing without a limit, and counts steps in sequence', () => {
    const ask = (name: string) => `{ kind: hitl, name: ${name}, message: "Good?" }`
    const loop = `{ kind: loop, name: l, loop: { max_loops: 5, on_max_loops: accept, body: [${ask('q')}] } }`
    expect(found(`steps: [${loop}]\n`)).toEqual([])
    expect(found(`limits: { max_asks: 6 }\nsteps: [${ask('first')}, ${loop}]\n`)).toEqual([])
    expect(found(`limits: { max_asks: 5 }\nsteps: [${ask('first')}, ${loop}]\n`)).toEqual([
      'HITL-NESTED-001 warning',
    ])
  })

  it('counts reviews under a RAO contract and questions about failures', () => {
    const step = (more: string) => `{ name: s, agent: plain, input: "{{ item }}", ${more} }`
    const limited = (most: number, body: string) =>
      found(
        `${agents}limits: { max_asks: ${most} }\nsteps: [{ kind: map, name: each, map: { iterable_input: "{{ input }}", max_items: 5, body: [${body}] } }]\n`,
      )
    const warned = ['HITL-NESTED-001 warning']
    expect(limited(4, step('contract: true'))).toEqual(warned)
    expect(limited(4, step('on_fail: ask'))).toEqual(warned)
    expect(limited(9, step('on_fail: ask, contract: true'))).toEqual(warned)
    expect(limited(10, step('on_fail: ask, contract: true'))).toEqual([])
    expect(limited(9, step('contract: true, fallback: agents.lister'))).toEqual(warned)
    expect(limited(0, step('contract: false'))).toEqual([])
  })
})
