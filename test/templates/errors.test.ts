/** How templates fail: by the names of the error taxonomy, with expected and actual type, and never because of undeclared output. */
import { describe, expect, it } from 'vitest'
import { compileTemplate, parseTemplate, templateRefusal } from '../../src/pipeline/index.ts'
import { runTemplate, template } from './support.ts'

const declared = (type: string, schema?: string) =>
  `<task><description>Do it</description><output_format type="${type}"${schema === undefined ? '' : ` schema="${schema}"`}/></task>`

describe('declared output that does not come', () => {
  it.each([
    ['string[]', '{"a": 1}', 'object', ''],
    ['string[]', 'there are no files', 'string', ''],
    ['string[]', '[1, 2]', 'array', '/0'],
    ['object', '["a"]', 'array', ''],
    ['object', 'null', 'null', ''],
    ['number', '"many"', 'string', ''],
    ['number', '[1, 2]', 'array', ''],
    ['boolean', '7', 'integer', ''],
    ['integer', '1.5', 'number', ''],
    [undefined, 'just text', 'string', ''],
  ])(
    '%s for %s fails with output_format_failure and says that it got %s',
    async (schema, text, actual, path) => {
      const { result, tasks, whole } = await runTemplate(declared('json', schema), { write: () => text })
      const expectedType = schema ?? 'json'
      expect(result).toMatchObject({ status: 'failed' })
      expect(tasks.get('task')).toMatchObject({
        status: 'FAILED',
        notes: {
          error: {
            type: 'TASK_FAILURE',
            reason: 'output_format_failure',
            message: `Expected output of type "${expectedType}" but got "${actual}"`,
            details: { expectedType, actualType: actual },
            path,
          },
        },
      })
      expect(whole).toEqual(tasks.get('task'))
    },
  )

  it.each([
    ['array', '[1, "a", null]', [1, 'a', null]],
    ['[]', '[]', []],
    ['string[][]', '[["a"], []]', [['a'], []]],
    ['object', '{"a": {"b": 1}}', { a: { b: 1 } }],
    ['string', 'plain words', 'plain words'],
    ['number', '42', 42],
    ['boolean', 'false', false],
    [undefined, '[1,]', [1]],
  ])('%s is met by %s', async (schema, text, value) => {
    const { result } = await runTemplate(declared('json', schema), { write: () => text })
    expect(result.output).toEqual(value)
  })
})

describe('output that is not declared', () => {
  it.each(['{"a": 1', '[1, 2,]', '42 is the answer', '"open', 'Plain.'])('never fails: %s', async (text) => {
    const { result, tasks } = await runTemplate('<task><description>Do it</description></task>', {
      write: () => text,
    })
    expect(result).toMatchObject({ status: 'completed', output: text })
    expect(tasks.get('task')).toMatchObject({ content: text, status: 'COMPLETE' })
    expect(tasks.get('task')?.parsedContent).toBeUndefined()
    expect(tasks.get('task')?.notes['parseError'] !== undefined).toBe(text !== 'Plain.')
  })

  it('stays text where it was declared as text', async () => {
    const { result, tasks } = await runTemplate(declared('text'), { write: () => '{"a": 1}' })
    expect(result.output).toBe('{"a": 1}')
    expect(tasks.get('task')).toEqual({ content: '{"a": 1}', status: 'COMPLETE', notes: {} })
  })
})

describe('a template of several tasks', () => {
  const xml = `<task type="sequential"><steps>
    <task name="first" output_slot="a"><description>First</description></task>
    <task name="second"><description>Second of {{a}}</description><output_format type="json" schema="object"/></task>
  </steps></task>`

  it('fails as a whole with the step that failed and what the others returned', async () => {
    const { whole } = await runTemplate(xml, {
      write: ({ system }) => (system.startsWith('First') ? 'one' : '[]'),
    })
    expect(whole).toMatchObject({
      status: 'FAILED',
      notes: {
        error: {
          type: 'TASK_FAILURE',
          reason: 'subtask_failure',
          details: {
            failedStep: 'second',
            error: {
              reason: 'output_format_failure',
              details: { expectedType: 'object', actualType: 'array' },
            },
          },
        },
      },
    })
    expect(JSON.stringify(whole.notes)).toContain('{"step":"first","content":"one"}')
  })

  it('says which resource ran out', async () => {
    const { tasks } = await runTemplate(xml, { write: () => '{}', constraints: { maxCalls: 1 } })
    const errors = [...tasks.values()].flatMap(({ notes }) =>
      notes['skipped'] === undefined ? (notes['error'] ?? []) : [],
    )
    expect(errors).toMatchObject([
      {
        type: 'RESOURCE_EXHAUSTION',
        reason: 'turns',
        details: { resource: 'turns', limitName: 'maxCalls', metrics: { used: 1, limit: 1 } },
      },
    ])
  })

  it('has a text that was cut off as exhausted output', async () => {
    const { tasks } = await runTemplate(declared('json', 'object'), { write: () => '{"a": "cut' })
    expect(tasks.get('task')?.notes['error']).toMatchObject({
      type: 'RESOURCE_EXHAUSTION',
      reason: 'output',
      details: { resource: 'output' },
    })
  })

  it('fails where a part of a value is not there, and says which', async () => {
    const { whole } = await runTemplate(
      `<task type="sequential"><steps>
        <task name="info" output_slot="info"><description>Info</description><output_format type="json" schema="object"/></task>
        <task><description>Say {{info.size}}</description></task>
      </steps></task>`,
      { write: () => '{"name": "a"}' },
    )
    expect(whole.notes['error']).toMatchObject({
      reason: 'subtask_failure',
      message: '"info.size" failed: "info" has nothing at "size"',
    })
  })
})

describe('a file that cannot be run', () => {
  it('is an xml_validation_failure', () => {
    const parsed = parseTemplate('<task><description>x</task>')
    if (parsed.ok) throw new Error('expected issues')
    expect(templateRefusal(parsed.issues)).toMatchObject({
      status: 'FAILED',
      notes: {
        error: {
          type: 'TASK_FAILURE',
          reason: 'xml_validation_failure',
          details: { violations: [expect.any(String)] },
        },
      },
    })
  })

  it('is an input_validation_failure when only an input is missing', () => {
    const file = template(
      '<template name="hi" params="who"><task><description>Greet {{who}}</description></task></template>',
    )
    const result = compileTemplate(file, {})
    if (result.ok) throw new Error('expected issues')
    expect(templateRefusal(result.issues).notes['error']).toMatchObject({
      reason: 'input_validation_failure',
      message: '"hi" needs the input "who"',
    })
  })
})
