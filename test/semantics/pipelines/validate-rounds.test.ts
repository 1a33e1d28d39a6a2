/** `validate` says everything that is wrong at once, and `--fix` changes no step that it is not about. */
import { describe, expect, it } from 'vitest'
import { fixText, readYaml, validatePipeline } from '../../../src/pipeline/index.ts'

const agents = `agents:
  a: { model: openai/gpt-5-mini }
  o: { model: openai/gpt-5-mini, output_schema: { type: object, required: [text], properties: { text: { type: string } }, additionalProperties: false } }
`
function errorsIn(steps: string): [number, string][] {
  const read = readYaml(`${agents}steps:\n${steps}`, 'p.yaml')
  if (!read.ok) throw new Error('this is no YAML')
  return validatePipeline(read.document)
    .issues.filter(({ severity }) => severity === 'error')
    .map(({ line, message }) => [line, message])
}

const wrong = `  - { name: one, agent: a, input: "{{ inptu.topic }}" }
  - { name: two, agent: a, input: "{{ context.foo }}" }
`
const both: [number, string][] = [
  [5, 'nothing here is called inptu'],
  [6, 'nothing puts foo into the context before this'],
]

describe('one round of validate has all of it', () => {
  it.each([
    ['an unknown fallback', '{ name: x, agent: a, fallback: agents.nope }', 'agent "nope" not found'],
    ['an unknown agent', '{ name: x, agent: nope }', 'agent "nope" not found'],
    ['an unknown key', '{ name: x, agent: a, tiemout: 3 }', expect.stringContaining('tiemout')],
    ['a wrong value', '{ name: x, agent: a, timeout: soon }', expect.any(String)],
    ['an unknown kind', '{ name: x, kind: lop }', 'kind of step "lop" not found'],
    ['a template that cannot be read', '{ name: x, agent: a, input: "{{ a b }}" }', expect.any(String)],
    ['a key without effect', '{ name: x, uses: wrap_dict, max_retries: 2 }', expect.any(String)],
  ])('%s hides nothing', (_, step, message) => {
    expect(errorsIn(`${wrong}  - ${step}\n`)).toEqual([...both, [7, message]])
  })

  it('a loop without its bound is looked into, and so are the steps behind it', () => {
    const found = errorsIn(`  - kind: loop
    name: l
    loop: { body: [{ name: c, agent: a, input: "{{ contxt.n }}" }] }
  - { name: d, agent: a, input: "{{ stpes.l }}" }
`)
    expect(found.map(([line]) => line)).toEqual([7, 7, 8])
  })

  it('an agent with a mistake hides nothing, and its steps are not blamed for it', () => {
    const read = readYaml(
      `agents: { a: { model: openai/x, output_shcema: { type: object } } }
steps:
  - { name: one, agent: a, input: "{{ stpes.x }}" }
`,
      'p.yaml',
    )
    if (!read.ok) throw new Error('this is no YAML')
    expect(validatePipeline(read.document).issues).toMatchObject([
      { line: 1, hint: 'Did you mean "output_schema"?' },
      { line: 3, message: 'nothing here is called stpes' },
    ])
  })

  it('one mistake stays one finding: nothing is concluded from a step that was refused', () => {
    const text = (keys: string) => `  - { name: one, ${keys} }
  - { name: two, agent: a, input: "{{ context.y }}" }
`
    expect(errorsIn(text('agent: o, updates_contxt: true'))).toHaveLength(1)
    expect(errorsIn(text('agent: o, timeout: soon, updates_context: true'))).toHaveLength(1)
    expect(errorsIn(text('agnet: o, updates_context: true'))).toHaveLength(1)
    expect(errorsIn(text('kind: lop'))).toHaveLength(1)
  })
})

describe('near misspellings', () => {
  it.each([
    ['max_retry', 'max_retries'],
    ['modle', 'model'],
  ])('the key %s of an agent suggests %s', (key, meant) => {
    const read = readYaml(`agents: { a: { ${key}: 1 } }\nsteps: [{ name: s, agent: a }]\n`, 'p.yaml')
    if (!read.ok) throw new Error('this is no YAML')
    expect(validatePipeline(read.document).issues[0]).toMatchObject({ hint: `Did you mean "${meant}"?` })
  })
})

describe('--fix', () => {
  it('leaves a step alone that takes its keys from the one that is fixed', () => {
    const text = `${agents}steps:
  - &s { name: one, agent: o, input: "x" }
  - { <<: *s, name: two }
`
    expect(fixText(text, { rules: ['V-A5'] })).toEqual({ text, applied: [] })
  })
})
