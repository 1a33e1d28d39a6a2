/** Templates run by the ordinary engine: tasks, sequences, calls and conditions, with native values between them. */
import { describe, expect, it } from 'vitest'
import { compiled, runTemplate } from './template-support.ts'

const task = (description: string, more = '') =>
  `<task><description>${description}</description>${more}</task>`

describe('a task without an output format', () => {
  it('returns the text as it came', async () => {
    const { result } = await runTemplate(task('Say hello'), { write: () => 'Hello there' })
    expect(result).toMatchObject({ status: 'completed', output: 'Hello there' })
  })

  it('returns the native value when the text is JSON, and keeps the text', async () => {
    const { result, tasks } = await runTemplate(task('List files'), { write: () => ' ["a.ts", "b.ts"] ' })
    expect(result.output).toEqual(['a.ts', 'b.ts'])
    expect(tasks.get('task')).toEqual({
      content: ' ["a.ts", "b.ts"] ',
      status: 'COMPLETE',
      notes: {},
      parsedContent: ['a.ts', 'b.ts'],
    })
  })
})

describe('a declared output', () => {
  const list = task('List files', '<output_format type="json" schema="string[]"/>')

  it('is read into its type', async () => {
    const { result, tasks } = await runTemplate(list, { write: () => 'Sure:\n```json\n["a.ts"]\n```' })
    expect(result.output).toEqual(['a.ts'])
    expect(tasks.get('task')).toMatchObject({ content: '["a.ts"]', parsedContent: ['a.ts'] })
  })
})

describe('a sequence', () => {
  it('binds slots with their native types, in order', async () => {
    const xml = `<task type="sequential"><steps>
      <task name="list" output_slot="files"><description>List</description><output_format type="json" schema="string[]"/></task>
      <task name="count"><description>Count {{files}} and {{files.length}} of {{dir}}</description></task>
    </steps></task>`
    const { result, calls } = await runTemplate(xml, {
      inputs: { dir: '/src' },
      write: ({ system }) => (system.startsWith('List') ? '["a","b"]' : '2'),
    })
    expect(result.output).toBe(2)
    expect(calls.map(({ inputs }) => inputs)).toEqual([
      {},
      { files: ['a', 'b'], 'files.length': 2, dir: '/src' },
    ])
  })
})

describe('a condition', () => {
  const xml = `<task type="sequential"><steps>
    <task name="rate" output_slot="score"><description>Rate {{text}}</description><output_format type="json" schema="number"/></task>
    <cond>
      <case test="{{score}} ge 5"><task name="praise"><description>Praise {{text}} for {{score}}</description></task></case>
      <case test="{{score}} &lt; 0">{{score}}</case>
      <case><task name="help"><description>Help with {{text}}</description></task></case>
    </cond>
  </steps></task>`

  it.each([
    [7, 'Praise', ['Rate', 'Praise']],
    [-1, -1, ['Rate']],
    [2, 'Help', ['Rate', 'Help']],
  ])('takes one case for %j and leaves the others alone', async (score, output, told) => {
    const { result, calls } = await runTemplate(xml, {
      inputs: { text: 'x' },
      write: ({ system }) => (system.startsWith('Rate') ? `${score}` : (system.split(' ')[0] ?? '')),
    })
    expect(result).toMatchObject({ status: 'completed', output })
    expect(calls.map((call) => call.told.split(' ')[0])).toEqual(told)
  })
})

describe('a call', () => {
  const templates = `<template name="size" params="path, unit" returns="number">
      <task name="measure"><description>Measure {{path}} in {{unit}}</description></task>
    </template>`

  it('written as {{fn(a, b)}} is the same as <call>', () => {
    const inputs = { file: { path: 'a.ts' } }
    const [short, long] = [
      '<input name="size" from="size(file.path, \'kB\')"/>',
      '<input name="size"><call template="size"><arg>{{file.path}}</arg><arg>kB</arg></call></input>',
    ].map((input) =>
      compiled(
        `<templates>${templates}<task><description>Say {{size}}</description><inputs>${input}</inputs></task></templates>`,
        inputs,
      ),
    )
    expect(short).toEqual(long)
  })

  it('gives back what the template returns, as its type', async () => {
    const { result, calls } = await runTemplate(
      `<templates>${templates}<task><description>Say {{size(file, "kB")}} again</description></task></templates>`,
      { inputs: { file: 'a.ts' }, write: ({ system }) => (system.startsWith('Measure') ? '12' : 'twelve') },
    )
    expect(result.output).toBe('twelve')
    expect(calls.map(({ inputs }) => inputs)).toEqual([
      { path: 'a.ts', unit: 'kB' },
      { 'size(file, "kB")': 12 },
    ])
  })
})
