/** Every key of a step acts or is an error with its line, whichever executes it: an import, a built-in or an agent. */
import { describe, expect, it, vi } from 'vitest'
import {
  compilePipeline,
  type Pipeline,
  parsePipeline,
  readYaml,
  type SeenImports,
  validatePipeline,
} from '../../../src/pipeline/index.ts'
import { compile, problems, readInput, readPipeline, run } from '../../pipelines/support.ts'

const inner = `agents: { s: { model: test/inner } }
steps:
  - { name: q, agent: s, input: "{{ input.topic }}" }
`
const outer = (step: string, more = '') => `name: outer
imports: { k: k.yaml }
agents: { spare: { model: test/spare } }
${more}steps:
  - { name: x, uses: imports.k, input: { topic: tea }, ${step} }
`

/** A pipeline with what it imports as `k`. */
function withImport(text: string, imported: string): Pipeline {
  const pipeline = readPipeline(text)
  const k = { at: '/imports/k', path: 'k.yaml', pipeline: readPipeline(imported) }
  return { ...pipeline, imports: new Map([['k', k]]) }
}

function findings(text: string, imported = inner) {
  const read = readYaml(text, 'p.yaml')
  if (!read.ok) throw new Error('this is no YAML')
  const imports: SeenImports = new Map([['k', { pipeline: readPipeline(imported), issues: [] }]])
  return validatePipeline(read.document, { imports }).issues
}

/** Why a pipeline with an import is not run. */
function refusals(text: string, imported = inner) {
  const read = readYaml(text, 'p.yaml')
  const parsed = read.ok ? parsePipeline(read.document) : read
  if (!parsed.ok) return parsed.issues
  const made = compilePipeline(withImport(text, imported), { input: { t: 'tea' } })
  return made.ok ? [] : made.issues
}

describe('a key that has no effect is an error with its line, in validate and in run', () => {
  it.each([
    ['contract: true', 'contract'],
    ['contract: true, suppress_below: 0.2', 'contract'],
    ['timeout: 3', 'timeout'],
    ['max_retries: 2', 'max_retries'],
    ['usage_limits: { max_calls: 2 }', 'usage_limits'],
    ['processing: { structured_output: auto }', 'processing.structured_output'],
    ['meta: { processing: { aop: full } }', 'processing.aop'],
  ])('on an import: %s', (key, named) => {
    const text = outer(key)
    const expected = {
      line: 5,
      code: 'pipeline/unread',
      message: `${named} has no effect on a step that uses imports.k`,
      hint: expect.any(String),
    }
    expect(findings(text)[0]).toMatchObject({ ...expected, severity: 'error' })
    expect(refusals(text)[0]).toMatchObject(expected)
  })

  it.each([
    ['contract: true', 'contract'],
    ['max_retries: 2', 'max_retries'],
    ['usage_limits: { max_calls: 2 }', 'usage_limits'],
    ['processing: { aop: full }', 'processing.aop'],
  ])('on a function that comes with pipelines: %s', (key, named) => {
    const text = `steps:\n  - { name: x, uses: wrap_dict, input: tea, ${key} }\n`
    const expected = { line: 2, message: `${named} has no effect on a step that uses wrap_dict` }
    expect(findings(text)).toMatchObject([{ ...expected, severity: 'error', hint: expect.any(String) }])
    expect(problems(text)).toMatchObject([expected])
  })
})

describe('what a step says of an import holds', () => {
  const wanted = '{ type: object, required: [a], properties: { a: { type: string } } }'
  const json = inner.replace('test/inner }', 'test/inner, output_schema: { type: object } }')

  it.each([`output_schema: ${wanted}`, `processing: { schema: ${wanted} }`, 'validate_fields: [a]'])(
    '%s is checked in the run',
    async (key) => {
      const pipeline = withImport(outer(key), json)
      expect(await run(pipeline, () => '{"a":"x"}')).toMatchObject({
        status: 'completed',
        output: { a: 'x' },
      })
      const failed = await run(pipeline, () => '{"b":1}')
      expect(failed).toMatchObject({ status: 'failed', failure: 'attempt/invalid' })
      expect(failed.issues[0]?.message).toContain('"a" is missing')
    },
  )

  it('an output_schema that it can never satisfy is a finding', () => {
    const text = outer(`output_schema: ${wanted}`)
    expect(findings(text)).toMatchObject([{ line: 5, code: 'pipeline/output' }])
    expect(refusals(text)).toMatchObject([{ line: 5, code: 'pipeline/output' }])
  })

  it('constraints hold for each of its steps', async () => {
    const pipeline = withImport(outer('constraints: { no_network_access: true }'), inner)
    const { draft } = compile(pipeline)
    expect(draft.nodes.find(({ id }) => id === 'x/q')?.constraints).toEqual({ no_network_access: true })
    expect(await run(pipeline)).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
  })

  it('on_fail: ask asks about the step of it that fails', async () => {
    const down = () => {
      throw new Error('down')
    }
    const done = await run(withImport(outer('on_fail: ask'), inner), down)
    expect(done).toMatchObject({ status: 'waiting' })
    expect(done.started).toEqual(['x/q'])
  })

  it('its fallback answers for all of it when a step of it fails, and only then', async () => {
    const two = `${inner}  - { name: r, agent: s, input: "second {{ previous_step }}" }\n`
    const pipeline = withImport(outer('fallback: agents.spare'), two)
    const answer = (fails: boolean) => (request: Parameters<typeof readInput>[0]) => {
      if (request.model.includes('spare')) return `spare ${JSON.stringify(readInput(request))}`
      if (fails && String(readInput(request)).startsWith('second')) throw new Error('down')
      return 'first'
    }
    expect(await run(pipeline, answer(true))).toMatchObject({
      status: 'completed',
      output: 'spare {"topic":"tea"}',
    })
    const fine = await run(pipeline, answer(false))
    expect(fine).toMatchObject({ status: 'completed', output: 'first' })
    expect(fine.seen).toHaveLength(2)
  })
})

describe('what a step says of a built-in holds', () => {
  it('an output_schema that it can never satisfy is a finding', () => {
    const text =
      'steps:\n  - { name: x, uses: wrap_dict, input: tea, output_schema: { type: object, required: [zz] } }\n'
    expect(findings(text)).toMatchObject([{ line: 2, code: 'pipeline/output' }])
    expect(problems(text)).toMatchObject([{ line: 2, code: 'pipeline/output' }])
  })

  it('one that the input decides about is checked in the run, and its fallback answers', async () => {
    const text = `agents: { spare: { model: test/m } }
steps:
  - { name: x, uses: ensure_object, input: "{{ input | default('') }}", validate_fields: [zz] }
`
    expect(await run(text, undefined, { input: '{"zz":1}' })).toMatchObject({ output: { zz: 1 } })
    expect(await run(text, undefined, { input: 'tea' })).toMatchObject({ failure: 'attempt/invalid' })
    const backed = text.replace('[zz] }', '[zz], fallback: agents.spare }')
    expect(await run(backed, () => '{"zz":2}', { input: 'tea' })).toMatchObject({ output: { zz: 2 } })
  })
})

describe('an imported pipeline keeps its own contract', () => {
  const strict = `input_schema: { type: object, required: [topic], properties: { topic: { type: integer } } }
output_schema: { type: object, required: [a], properties: { a: { type: string } } }
limits: { max_calls: 1 }
agents: { s: { model: test/inner, output_schema: { type: object } } }
steps:
  - { name: q, agent: s, input: "{{ input.topic }}" }
`
  const using = (input: string) => `imports: { k: k.yaml }
steps:
  - { name: x, uses: imports.k, input: ${input} }
`

  it('a literal that its input_schema rules out is a finding', () => {
    const text = using('{ topic: tea }')
    expect(findings(text, strict).filter(({ severity }) => severity === 'error')).toMatchObject([
      { line: 3, code: 'pipeline/input', message: expect.stringContaining('/topic') },
    ])
    expect(refusals(text, strict)).toMatchObject([{ line: 3, code: 'pipeline/input' }])
  })

  it('so is one beside templates, and a value whose schema rules it out', () => {
    const given = 'input_schema: { type: object, required: [t], properties: { t: { type: string } } }\n'
    for (const input of ['{ topic: tea, x: "{{ input.t }}" }', '{ topic: "{{ input.t }}" }']) {
      const errors = findings(given + using(input), strict).filter(({ severity }) => severity === 'error')
      expect(errors).toMatchObject([{ line: 4, code: 'pipeline/input' }])
      expect(refusals(given + using(input), strict)).toMatchObject([{ line: 4, code: 'pipeline/input' }])
    }
  })

  it('a value that it rules out is refused before anything is called', async () => {
    const pipeline = withImport(using('{ topic: "{{ input.t | upper }}" }'), strict)
    const model = vi.fn(() => '{"a":"x"}')
    await expect(run(pipeline, model, { input: { t: 'tea' } })).rejects.toThrow('/topic breaks type')
    expect(model).not.toHaveBeenCalled()
  })

  it('an answer that its output_schema rules out fails the run, and one that satisfies it does not', async () => {
    const pipeline = withImport(using('{ topic: 3 }'), strict)
    expect(await run(pipeline, () => '{"b":1}')).toMatchObject({ failure: 'attempt/invalid' })
    expect(await run(pipeline, () => '{"a":"x"}')).toMatchObject({ output: { a: 'x' } })
  })

  it('a warning at the import says that its limits do not hold', () => {
    expect(findings(using('{ topic: 3 }'), strict)).toMatchObject([
      {
        line: 1,
        severity: 'warning',
        code: 'pipeline/import-limits',
        hint: expect.stringContaining('limits'),
      },
    ])
  })
})
