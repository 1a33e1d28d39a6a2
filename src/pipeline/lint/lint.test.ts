import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadPipeline } from '../parse/load-pipeline.ts'
import { reportJson, reportSarif, reportText } from '../report/report-issues.ts'
import { readYaml } from '../yaml/read-yaml.ts'
import { fixText } from './fix.ts'
import { matches } from './glob.ts'
import { type LintOptions, lint } from './lint.ts'
import { namedProfile, readProfileFile } from './profile.ts'
import { ruleTable } from './rule-table.ts'
import { compareWithBaseline, createBaseline, parseBaseline } from './suppress.ts'
import { seeImports } from './validate.ts'

const golden = (name: string) => join(import.meta.dirname, '../../../test/cases/lint/reports', name)

const head = `version: "0.1"
agents:
  writer: { model: m, system_prompt: Write., output_schema: { type: object, properties: { a: true } } }
  plain: { model: m, system_prompt: Write., output_schema: { type: string } }
`

function look(text: string, options: LintOptions = {}) {
  const read = readYaml(text, 'p.yaml')
  if (!read.ok) throw new Error(JSON.stringify(read.issues))
  return { ...lint(read.document, options), source: read.document.source }
}

const codes = (text: string, options: LintOptions = {}) => look(text, options).issues.map(({ code }) => code)

describe('plain texts', () => {
  it.each([
    ['one step', 'steps: [{ name: say, agent: plain }]'],
    [
      'a chain',
      'steps: [{ name: a, agent: plain }, { name: b, agent: plain }, { name: c, agent: plain, input: "{{ previous_step | upper }}" }]',
    ],
    [
      'an output that is named much later',
      'steps: [{ name: a, agent: plain }, { name: b, agent: plain, input: hello }, { name: c, agent: plain, input: "{{ previous_step }} {{ steps.a.output }}" }]',
    ],
    ['an agent without a schema', 'steps: [{ name: a, agent: free }, { name: b, agent: free }]'],
    [
      'a text that is kept',
      'steps: [{ name: a, agent: plain, sink_to: title }, { name: b, agent: plain, input: "{{ context.title }}" }]',
    ],
  ])('raise no alarm: %s', (_, steps) => {
    const free = '  free: { model: m, system_prompt: Write. }\n'
    expect(look(head + free + steps).issues).toEqual([])
  })
})

describe('the examples', () => {
  const folder = join(import.meta.dirname, '../../../examples/pipelines')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.yaml'),
  )

  it.each(files)('%s is quiet under the settings beside it', async (name) => {
    const settings = { structuredOutput: 'auto', autoPromote: true }
    const loaded = await loadPipeline(join(folder, name), { root: folder })
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.issues))
    const imports = await seeImports(loaded.pipeline, join(folder, name), { settings })
    expect(look(readFileSync(join(folder, name), 'utf8'), { settings, imports }).issues).toEqual([])
  })
})

describe('V-A8', () => {
  const step = (more: string) => `${head}steps: [{ name: a, agent: writer${more} }]`

  it('is content when the step, its agent or the configuration says something', () => {
    expect(codes(step(''))).toEqual(['V-A8'])
    for (const way of ['auto', 'openai_json', 'outlines', 'off'])
      expect(codes(step(`, processing: { structured_output: ${way} }`))).toEqual([])
    expect(codes(step(', processing: { structuredOutput: auto }'))).toEqual([])
    expect(codes(step(', processing: { aop: full }'))).toEqual(['V-A8'])
    const configured = { structuredOutput: 'auto', autoPromote: true }
    expect(codes(step(''), { settings: configured })).toEqual([])
    const agent = head.replace(
      'system_prompt: Write.,',
      'system_prompt: Write., processing: { structured_output: auto },',
    )
    expect(codes(`${agent}steps: [{ name: a, agent: writer }]`)).toEqual([])
  })

  it('says when only promotion helps', () => {
    const message = (autoPromote: boolean) =>
      look(step(''), { settings: { structuredOutput: 'off', autoPromote } }).issues[0]?.message
    expect(message(true)).toContain('only aros.auto_promote')
    expect(message(false)).toContain('structured output is off')
  })
})

describe('V-C1', () => {
  const step = (more: string) =>
    `${head}steps: [{ name: a, updates_context: true, ${more} }, { name: b, agent: plain, input: "{{ previous_step }}" }]`

  it('takes objects, built-ins that make them, what is not known, and the author’s word', () => {
    expect(codes(step('agent: plain'))).toEqual(['V-C1'])
    expect(codes(step('agent: writer, processing: { structured_output: auto }'))).toEqual([])
    for (const name of ['wrap_dict', 'ensure_object', 'my.own'])
      expect(codes(step(`uses: ${name}`))).toEqual([])
    expect(codes(step('uses: extract_from_text, params: { schema: { type: object } }'))).toEqual([])
    expect(codes(step('agent: plain, mergeable_output: true'))).toEqual([])
  })

  it('is a warning where mergeable_output says that nothing is merged, and the output is used', () => {
    const { issues } = look(step('agent: plain, mergeable_output: false'))
    expect(issues.map(({ code, severity }) => [code, severity])).toEqual([['V-C1', 'warning']])
  })
})

describe('suppression', () => {
  it.each([
    ['V-A88', '  - name: a # proviso: ignore V-A88\n    agent: writer\n', 'Did you mean V-A8?'],
    ['VA9', '  - name: a # proviso: ignore VA9 because\n    agent: writer\n', 'Did you mean V-A'],
    ['V-Z99', '  - name: a # proviso: ignore V-A8, V-Z99 as it is\n    agent: writer\n', 'Rules: V-A1, '],
    ['V-Q*', '  - name: a\n    agent: writer\n    meta: { suppress_rules: [V-A8, V-Q*] }\n', 'Rules: V-A1, '],
    ['V-A8O', '  - name: a\n    agent: writer\nmeta: { suppress_rules: V-A8O }\n', 'Did you mean V-A8?'],
  ])('of %s, which is not a rule, is reported at its range', (rule, steps, hint) => {
    const text = `${head}steps:\n${steps}`
    const { issues } = look(text)
    const unknown = issues.filter(({ code }) => code === 'lint/unknown-rule')
    expect(unknown).toMatchObject([
      { severity: 'warning', hint: expect.stringContaining(hint), message: expect.stringContaining(rule) },
    ])
    expect(unknown.map(({ at }) => text.slice(...at.span))).toEqual([rule])
  })

  it('of a rule of the original project that cannot be broken here is worth a note', () => {
    const { issues } = look(`${head}steps:\n  - name: a # proviso: ignore V-I6, V-A8\n    agent: writer\n`)
    expect(issues).toMatchObject([{ code: 'lint/unknown-rule', severity: 'note' }])
  })

  it('may say why, with numbers and names', () => {
    const why = 'V-A8 because gpt-4 answers since 2024-11 as well-known v2'
    expect(codes(`${head}steps:\n  - name: a # proviso: ignore ${why}\n    agent: writer\n`)).toEqual([])
  })

  it.each([
    ['on the line', '  - name: a\n    agent: writer # proviso: ignore V-A8\n'],
    ['above the step', '  # proviso: ignore V-A8\n  - name: a\n    agent: writer\n'],
    [
      'above, with other comments between',
      '  # proviso: ignore V-A8, V-C1\n  # because\n\n  - name: a\n    agent: writer\n',
    ],
    ['behind the dash', '  - # proviso: ignore V-A8\n    name: a\n    agent: writer\n'],
    ['by a glob', '  - name: a # proviso: ignore V-A*\n    agent: writer\n'],
    ['in meta', '  - name: a\n    agent: writer\n    meta: { suppress_rules: [V-A8] }\n'],
    ['in meta of the file', '  - name: a\n    agent: writer\nmeta: { suppress_rules: [V-A8] }\n'],
    [
      'for the steps inside',
      '  - kind: parallel # proviso: ignore V-A8\n    name: p\n    branches: { x: [{ name: a, agent: writer }] }\n',
    ],
  ])('%s', (_, step) => {
    const { issues, suppressed } = look(`${head}steps:\n${step}`)
    expect([issues, suppressed]).toEqual([[], 1])
  })

  it('holds at an agent, for what is said of it and of no other', () => {
    const agent = (name: string, comment = '') =>
      `  ${name}: { model: m, system_prompt: W., output_schema: { type: array } }${comment}\n`
    const text = (comment: string) =>
      `agents:\n${agent('one', comment)}${agent('two')}steps: [{ name: a, uses: my.own }]\n`
    const lines = (comment: string) => look(text(comment)).issues.map(({ code, line }) => `${code} ${line}`)
    expect(lines('')).toEqual(['V-S1 2', 'V-S1 3'])
    expect(lines(' # proviso: ignore V-S1')).toEqual(['V-S1 3'])
    expect(lines('\n  # proviso: ignore V-S1')).toEqual(['V-S1 2'])
  })

  it('holds for its own step and rule only', () => {
    const steps = '  - name: a # proviso: ignore V-A8\n    agent: writer\n  - name: b\n    agent: writer\n'
    expect(look(`${head}steps:\n${steps}`).issues.map(({ step }) => step)).toEqual(['b'])
    expect(codes(`${head}steps:\n  - name: a # proviso: ignore V-C1\n    agent: writer\n`)).toEqual(['V-A8'])
  })

  it('keeps fixers away too', () => {
    const text = `${head}steps:\n  - name: a # proviso: ignore V-A8\n    agent: writer\n`
    expect(fixText(text)).toEqual({ text, applied: [] })
  })
})

describe('profiles', () => {
  const text = `${head}steps: [{ name: a, agent: writer }]`

  it('change severities; the last glob that matches counts', () => {
    const read = readProfileFile('"V-*": error\nV-A8: note\n', 'rules.yaml')
    if (!('profile' in read)) throw new Error(read.problem)
    expect(look(text, read).issues[0]?.severity).toBe('note')
    expect(codes(text, { profile: [['*', 'off']] })).toEqual([])
  })

  it('come from proviso.toml by name, or are built in', () => {
    const team = { 'V-A8': 'error', 'V-T*': 'info' }
    expect(namedProfile('team', { team })).toEqual({
      profile: [
        ['V-A8', 'error'],
        ['V-T*', 'note'],
      ],
    })
    expect(namedProfile('strict', {})).toEqual({ profile: [['*', 'error']] })
  })

  it('are refused with what is wrong in them', () => {
    expect(namedProfile('none', {})).toMatchObject({ hint: expect.stringContaining('strict') })
    expect(readProfileFile('V-A8: loud', 'r.yaml')).toMatchObject({
      problem: expect.stringContaining('"loud"'),
    })
    expect(readProfileFile('V-ZZ: error', 'r.yaml')).toMatchObject({
      problem: expect.stringContaining('V-ZZ'),
    })
    expect(readProfileFile('"V-A8" = ', 'r.toml')).toMatchObject({
      problem: expect.stringContaining('line 1'),
    })
  })

  it('know globs without a regex', () => {
    const name = 'V-A8'
    expect(['*', 'V-*', 'v-a8', '*8', 'V*A*8'].every((glob) => matches(name, glob))).toBe(true)
    expect(['V-A', 'V-A88*', '*9', 'V-A8*8', ''].some((glob) => matches(name, glob))).toBe(false)
  })
})

describe('baselines', () => {
  const one = look(`${head}steps: [{ name: a, agent: writer }]`).issues
  const two = look(`${head}steps: [{ name: b, agent: writer }, { name: a, agent: writer }]`).issues

  it('leave only what is new, even after it moved', () => {
    const baseline = parseBaseline(JSON.parse(JSON.stringify(createBaseline(one))))
    if (!baseline) throw new Error('no baseline')
    const { added, known, gone } = compareWithBaseline(two, baseline)
    expect([added.map(({ step }) => step), known, gone]).toEqual([['b'], 1, 0])
    expect(compareWithBaseline([], baseline)).toEqual({ added: [], known: 0, gone: 1 })
  })

  it('are rejected when they are not valid', () => {
    for (const value of [null, {}, { version: 2, known: [] }, { version: 1, known: [{ rule: 1 }] }])
      expect(parseBaseline(value)).toBe(undefined)
  })
})

describe('reports', () => {
  const text = `${head}steps:
  - name: a
    agent: plain
    updates_context: true
  - name: b
    agent: writer
    input: "{{ previous_step.output | uper }}"
    colour: red
`
  const { issues, suppressed, source } = look(text)

  it('for people', async () => {
    await expect(reportText(issues)).toMatchFileSnapshot(golden('report.txt'))
  })

  it('as JSON', async () => {
    const report = reportJson({ path: 'p.yaml', issues, suppressed })
    expect(report.is_valid).toBe(false)
    await expect(`${JSON.stringify(report, null, 2)}\n`).toMatchFileSnapshot(golden('report.json'))
  })

  it('as SARIF', async () => {
    const report = reportSarif(issues, { sources: [source], version: '1.2.3' })
    const { runs, ...head } = report as {
      runs: {
        tool: { driver: { rules: object[] } & Record<string, unknown> }
        results: object[]
        columnKind: string
      }[]
    }
    const [run] = runs
    if (run === undefined || runs.length > 1) throw new Error('A report has one run')
    const { rules, ...driver } = run.tool.driver
    expect(rules).toEqual(
      ruleTable.map(({ id, title, help, severity }) => ({
        id,
        shortDescription: { text: title },
        help: { text: help, markdown: help },
        defaultConfiguration: { level: severity },
      })),
    )
    expect({
      head,
      driver,
      columnKind: run.columnKind,
      keys: [Object.keys(run), Object.keys(run.tool)],
    }).toEqual({
      head: { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0' },
      driver: { name: 'proviso', version: '1.2.3' },
      columnKind: 'utf16CodeUnits',
      keys: [['tool', 'columnKind', 'results'], ['driver']],
    })
    const lines = run.results.map((result) => JSON.stringify(result))
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(golden('report-sarif-results.jsonl'))
  })
})

describe('files that are meant to hurt', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => `  - name: s${index}\n    agent: writer\n`).join('')

  /** Every step breaks many rules and refers to unknown names. */
  const wrong = (count: number) =>
    Array.from(
      { length: count },
      (_, index) =>
        `  - { name: s${index}, agent: plain, sink_to: scratchpad.k${index}, input: "{{ previous_step.output.b | uper }} {{ steps.x${index}.output }} {{ context.scratchpad.k${index} }}" }\n`,
    ).join('')

  it('are linted in time: thousands of steps, templates and suppressions', () => {
    const marks = '{{ steps.a.output | uper }}'.repeat(3_000)
    const texts = [
      `${head}steps:\n${many(4_000)}`,
      `${head}steps:\n  - name: a\n    agent: plain\n    input: "${marks}"\n`,
      `${head}steps:\n${'  # proviso: ignore V-A8\n'.repeat(8_000)}  - name: a\n    agent: writer\n`,
      `${head}steps:\n  - name: a\n    agent: plain\n    input: "${'{{'.repeat(40_000)}"\n`,
      // Each step takes the output of the one before, so schemas propagate through all of them.
      `steps:\n${'- {uses: wrap_dict}\n'.repeat(4_000)}`,
      `${head}steps:\n${wrong(500)}`,
    ]
    for (const text of texts) {
      // The goal is one second; a busy machine may take longer.
      const began = performance.now()
      look(text)
      expect(performance.now() - began).toBeLessThan(10_000)
    }
  })

  it('are fixed in time: a thousand steps', () => {
    const { text, applied } = fixText(`${head}steps:\n${many(1_000)}`)
    expect(applied).toHaveLength(1_000)
    expect(codes(text)).toEqual([])
  })
})
