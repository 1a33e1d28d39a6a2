/** `proviso validate` and `proviso run` agree: what the compiler refuses is a finding with its place, a rule and a hint. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type LintIssue,
  readYaml,
  type ValidateOptions,
  validatePipeline,
} from '../../../src/pipeline/index.ts'
import { defineCapability, problems } from '../../pipelines/support.ts'
import { requireBuild, runCommand } from '../../support.ts'

const folder = mkdtempSync(join(tmpdir(), 'proviso-validate-'))
beforeAll(requireBuild)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

const agents = `agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write. }
  judge: { model: openai/gpt-4o-mini, output_schema: { type: object, required: [ok], properties: { ok: { type: boolean } }, additionalProperties: false } }
`

const find = (text: string, options: ValidateOptions = {}) => {
  const read = readYaml(text, 'p.yaml')
  if (!read.ok) throw new Error(JSON.stringify(read.issues))
  return validatePipeline(read.document, options).issues
}
const errorsIn = (text: string, options?: ValidateOptions) =>
  find(text, options).filter(({ severity }) => severity === 'error')

const fetch = defineCapability({
  capabilityId: 'shop.fetch',
  kind: 'local',
  inputContract: { type: 'object' },
  outputContract: { type: 'array' },
  run: () => [],
})

const mistakes: readonly (readonly [string, string, Partial<LintIssue>])[] = [
  [
    'a misspelled root of a template',
    '  - { name: b, agent: writer, input: "About {{ stpes.a.output }}" }',
    { line: 6, column: 48, message: 'nothing here is called stpes', hint: 'Did you mean steps?' },
  ],
  [
    'a misspelled root of a condition',
    '  - { kind: conditional, name: b, condition: { "==": [{ var: previus_step.ok }, true] }, branches: { true: [{ name: c, agent: writer }] } }',
    { line: 6, message: 'nothing here is called previus_step', hint: 'Did you mean previous_step?' },
  ],
  [
    'a key of the context that nothing writes',
    '  - { name: b, agent: writer, input: "{{ context.topic }}" }',
    { line: 6, column: 42, message: 'nothing puts topic into the context before this' },
  ],
  [
    'a fallback that does not resolve',
    '  - { name: b, agent: writer, fallback: shop.fetch }',
    { line: 6, column: 41, message: expect.stringContaining('shop.fetch') },
  ],
  [
    'a fallback that cannot do the work of a step',
    '  - { name: b, agent: writer, fallback: wrap_dict }',
    { line: 6, column: 41 },
  ],
  [
    'a capability that no module brings',
    '  - { name: b, uses: shop.fetch }',
    {
      line: 6,
      column: 22,
      message: 'capability "shop.fetch" not found',
      hint: expect.stringContaining('--use'),
    },
  ],
  [
    'item outside of a map',
    '  - { name: b, agent: writer, input: "{{ item }}" }',
    { line: 6, message: expect.stringContaining('item') },
  ],
  [
    'a member that a schema rules out in a condition',
    '  - { name: j, agent: judge }\n  - { kind: conditional, name: b, condition: { "==": [{ var: previous_step.good }, true] }, branches: { true: [{ name: c, agent: writer }] } }',
    { line: 7, message: expect.stringContaining('good') },
  ],
  [
    'a root in the message to a person',
    '  - { kind: hitl, name: b, message: "Is {{ stepz.a }} right?" }',
    { line: 6, message: 'nothing here is called stepz' },
  ],
  [
    'a root in a branch inside of a loop',
    '  - kind: loop\n    name: l\n    loop: { max_loops: 2, body: [{ kind: parallel, name: p, branches: { x: [{ name: c, agent: writer, input: "{{ contxt.a }}" }] } }] }',
    { line: 8, message: 'nothing here is called contxt' },
  ],
  [
    'a validator of a precheck inside of a map that is not there',
    '  - kind: map\n    name: m\n    map: { iterable_input: "{{ input }}", body: [{ name: c, agent: writer, processing: { reasoning_precheck: { enabled: true, validator_agent: agents.jugde } } }] }',
    { line: 8, code: 'pipeline/unknown', hint: 'Did you mean judge?' },
  ],
  [
    'a validator of a precheck inside of a loop that is not there',
    '  - kind: loop\n    name: l\n    loop: { max_loops: 2, body: [{ name: c, agent: writer, processing: { reasoning_precheck: { enabled: true, validator_agent: agents.jugde } } }] }',
    { line: 8, code: 'pipeline/unknown', hint: 'Did you mean judge?' },
  ],
  [
    'RAO thresholds in the wrong order',
    '  - { name: b, agent: writer, contract: true, auto_approve_above: 0.2, suppress_below: 0.9 }',
    { line: 6, code: 'pipeline/contract', message: expect.stringContaining('suppressBelow (0.9)') },
  ],
  [
    'a threshold without a contract that it belongs to',
    '  - { name: b, agent: writer, auto_approve_above: 0.2 }',
    { line: 6, column: 31, hint: expect.stringContaining('contract: true') },
  ],
]

describe('what the compiler refuses is an error of validate, at its place', () => {
  it.each(mistakes)('%s', (_, step, expected) => {
    const text = `${agents}steps:\n  - { name: a, agent: writer }\n${step}\n`
    const found = errorsIn(text)
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({
      hint: expect.any(String),
      ...expected,
      code: expect.stringMatching(/^(pipeline\/|V-|LOOP-)/),
      file: 'p.yaml',
    })
    const [refused] = problems(text, { input: 'tea' })
    expect(refused?.line).toBe(found[0]?.line)
  })

  it('one mistake is one finding: steps that build on the wrong one are not blamed for it', () => {
    const text = `${agents}steps:
  - { name: a, uses: shop.fetch }
  - { name: b, agent: writer, input: "{{ steps.a.output.title }} {{ previous_step.items }}" }
  - { kind: map, name: c, map: { iterable_input: "{{ steps.a.output.items }}", body: [{ name: d, agent: writer }] } }
`
    expect(errorsIn(text)).toMatchObject([{ code: 'pipeline/unknown', line: 5 }])
  })

  it('a pipeline that only its input decides about is valid', () => {
    const text = `${agents}steps:\n  - { name: a, agent: writer, input: "{{ input.topic }} {{ input.items.0 }}" }\n`
    expect(find(text)).toEqual([])
    expect(problems(text, { input: 'tea' })).not.toEqual([])
  })

  it('an error of the compiler cannot be switched off, because the file cannot be run', () => {
    const text = `${agents}steps:\n  - { name: a, agent: writer, input: "{{ stpes.b }}" } # proviso: ignore V-*\n`
    expect(errorsIn(text)).toHaveLength(1)
    expect(errorsIn(text, { profile: [['*', 'off']] })).toHaveLength(1)
  })

  it('a capability that is given is known', () => {
    const text = `${agents}steps:\n  - { name: a, uses: shop.fetch }\n  - { name: b, agent: writer, output_schema: { type: array }, fallback: shop.fetch }\n`
    expect(errorsIn(text)).toHaveLength(2)
    expect(errorsIn(text, { capabilities: [fetch.capability] })).toEqual([])
  })
})

describe('proviso validate', () => {
  it('reports what proviso run refuses, with 4 where run ends with 2', async () => {
    const path = write(
      'mistakes.yaml',
      `${agents}steps:\n  - { name: a, agent: writer, input: "{{ stpes.x }}", fallback: shop.fetch }\n`,
    )
    const found = await runCommand(['validate', path, '--format', 'json'])
    expect(found.code).toBe(4)
    expect(JSON.parse(found.stdout)).toMatchObject({
      is_valid: false,
      errors: [
        { rule_id: 'pipeline/unknown', line: 5, column: 42, suggestion: 'Did you mean steps?', file: path },
        { rule_id: 'pipeline/fallback', line: 5, column: 65, suggestion: expect.any(String) },
      ],
    })
    const ran = await runCommand(['run', path, '--input', '"tea"'])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain(`${path}:5:42`)
    expect(ran.stderr).toContain(`${path}:5:65`)
  })

  it('reports mistakes in an imported pipeline with its file and line', async () => {
    const inner = write(
      'inner.yaml',
      `${agents}steps:\n  - { name: a, agent: writer, input: "{{ imput }}" }\n`,
    )
    const outer = write(
      'outer.yaml',
      'imports: { inner: inner.yaml }\nsteps:\n  - { name: a, uses: imports.inner }\n',
    )
    const found = await runCommand(['validate', outer, '--format', 'json'])
    expect(found.code).toBe(4)
    expect(JSON.parse(found.stdout)).toMatchObject({
      errors: [{ rule_id: 'pipeline/unknown', file: inner, line: 5 }],
    })
  })

  it('knows the capabilities of --use and of [catalog] use', async () => {
    const module = write(
      'shop.mjs',
      `export const fetch = { capability: ${JSON.stringify(fetch.capability)}, run: () => [] }\n`,
    )
    const path = write('uses.yaml', 'steps:\n  - { name: a, uses: shop.fetch }\n')
    expect((await runCommand(['validate', path])).code).toBe(4)
    expect((await runCommand(['validate', path, '--use', module])).code).toBe(0)
    const config = write('proviso.toml', '[catalog]\nuse = ["./shop.mjs"]\n')
    expect((await runCommand(['validate', path, '--config', config])).code).toBe(0)
  })

  it('knows the stages that modules of --use export', async () => {
    const module = write('stages.mjs', "export const nice = { name: 'nice', run: () => undefined }\n")
    const path = write(
      'stages.yaml',
      `${agents}steps:\n  - { name: a, agent: writer, processing: { stages: [nice] } }\n`,
    )
    expect((await runCommand(['validate', path])).stdout).toContain('stage "nice" not found')
    expect((await runCommand(['validate', path, '--use', module])).code).toBe(0)
  })

  it('--fix leaves a file that run takes, where a fixer can do it', async () => {
    const path = write(
      'fix.yaml',
      `${agents}steps:\n  - { name: a, agent: writer }\n  - { name: b, agent: writer, input: "{{ previous_step.output }}" }\n`,
    )
    expect((await runCommand(['validate', path])).code).toBe(4)
    expect((await runCommand(['validate', path, '--fix', '--yes'])).code).toBe(0)
    expect((await runCommand(['prove', path, '--input', '"tea"', '--assume-providers'])).code).toBe(0)
  })
})
