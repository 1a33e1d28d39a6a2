/** What is wrong with a template is said before anything runs, all of it at once, each at its place. */
import { describe, expect, it } from 'vitest'
import { parseTemplate } from '../../src/pipeline/index.ts'
import { parseDraft } from '../seams/domain.ts'
import { compiled, complaints, processorMs } from './support.ts'

const task = '<task><description>Do it</description></task>'
const sequence = (steps: string) => `<task type="sequential"><steps>${steps}</steps></task>`

describe('a template file', () => {
  it.each([
    ['<tasks/>', ['1:1 a template file does not begin with <tasks>']],
    ['<task/>', ['1:1 a task says what is to be done']],
    ['<task kind="x"><description>x</description></task>', ['1:7 <task> has no attribute "kind"']],
    [
      '<task><descripton>x</descripton></task>',
      ['1:7 <task> has no element <descripton>', '1:1 a task says what is to be done'],
    ],
    ['<task>words<description>x</description></task>', ['1:7 <task> has no text of its own']],
    [
      '<task type="script"><description>x</description></task>',
      ['1:7 a task of type "script" is not known here'],
    ],
    [
      '<task type="director_evaluator_loop"><description>x</description></task>',
      ['1:7 a task of type "director_evaluator_loop" is not known here'],
    ],
    [
      '<task><description>x</description><file_paths><path>/etc/passwd</path></file_paths></task>',
      ['1:35 a template reads no files: it has no references to the outside'],
    ],
    [
      '<task><description>x</description><output_format type="xml"/></task>',
      ['1:50 "xml" is no output format'],
    ],
    ['<task><description>x</description><output_format/></task>', ['1:35 <output_format> has a type']],
    [
      '<task><description>x</description><output_format type="json" schema="text[]"/></task>',
      ['1:62 "text[]" is not the name of a type'],
    ],
    [
      '<task><description>x</description><output_format type="text" schema="string"/></task>',
      ['1:62 text has no schema'],
    ],
    ['<task type="sequential"><steps/></task>', ['1:1 a sequence has at least one step']],
    [
      `<task><description>x</description><steps>${task}</steps></task>`,
      ['1:35 <steps> belongs to tasks of type "sequential", not "atomic"'],
    ],
    [
      '<task><description>Say {{a b}}</description></task>',
      ['1:24 "a b" cannot be read: only one expression is allowed here'],
    ],
    ['<task><description>Say {{a</description></task>', ['1:24 "{{" has no "}}"']],
    [
      '<cond><case>1</case><case test="true">2</case></cond>',
      ['1:7 a <case> without a test is always taken, so the cases after it never are'],
    ],
    ['<cond><case test="1 == 1">2</case></cond>', ['1:1 no case is taken when every test is false']],
    ['<cond/>', ['1:1 <cond> has a <case> with a test']],
    ['<cond><case test="true"/></cond>', ['1:7 <case> is empty']],
    ['<template params="a">1</template>', ['1:1 <template> has a name']],
    ['<template name="a b">1</template>', ['1:11 "a b" cannot be the name of a template']],
    [`<template name="f" params="a a">${task}</template>`, ['1:20 there are two parameters "a"']],
    [`<template name="f" returns="thing">${task}</template>`, ['1:20 "thing" is not the name of a type']],
    [
      `<templates><template name="f">${task}</template><template name="f">${task}</template>${task}</templates>`,
      ['1:87 there are two templates "f"'],
    ],
    ['<templates/>', ['1:1 the file does not say which task to run']],
    [`<templates>${task}${task}</templates>`, ['1:57 a file has one task to run']],
    ['<call/>', ['1:1 <call> says which template']],
    [
      '<task><description>x</description><context_management inherit_context="subset" fresh_context="enabled" accumulation_format="minimal"/></task>',
      [
        '1:35 inherit_context "subset" chooses by a search that does not exist here',
        '1:35 accumulation_format "minimal" keeps summaries, which are not made here',
        '1:35 fresh_context "enabled" searches a memory that does not exist here',
      ],
    ],
  ])('%s', (xml, expected) => {
    expect(complaints(xml)).toEqual(expected)
  })

  it('carries the output format on the task and returns on the template', () => {
    const parsed = parseTemplate(
      '<template name="get_file_info" params="filepath" returns="object"><task><description>x</description><output_format type="json" schema="object"/></task></template>',
    )
    expect(parsed).toMatchObject({
      ok: true,
      file: {
        main: {
          returns: 'object',
          params: ['filepath'],
          body: { outputFormat: { type: 'json', schema: 'object' } },
        },
      },
    })
  })
})

describe('names and calls', () => {
  const f = `<template name="f" params="a, b"><task><description>{{a}} {{b}}</description></task></template>`

  it.each([
    ['<task><description>{{who}}</description></task>', ['1:20 "who" is not visible here']],
    [`<templates>${f}<call template="g"/></templates>`, ['1:107 template "g" not found in this file']],
    [
      `<templates>${f}<call template="f"><arg>1</arg></call></templates>`,
      ['1:107 "f" is called without "b"'],
    ],
    [
      `<templates>${f}<call template="f"><arg>1</arg><arg>2</arg><arg>3</arg></call></templates>`,
      ['1:150 "f" is called with too many arguments'],
    ],
    [
      `<templates>${f}<call template="f"><arg name="c">1</arg><arg>2</arg><arg>3</arg></call></templates>`,
      ['1:126 "f" has no parameter "c"'],
    ],
    [
      `<templates>${f}<call template="f"><arg>x {{f(1, 2)}}</arg><arg>3</arg></call></templates>`,
      ['1:133 <arg> holds one {{…}} or a plain value, not a mixture'],
    ],
    [
      '<template name="f" returns="object"><task><description>x</description><output_format type="json" schema="string[]"/></task></template>',
      [
        '1:1 "f" has no parameter "in"',
        '1:71 the output is declared as string[], but object is wanted of it here',
      ],
    ],
    ['<task><description>{{in.a.b}}</description></task>', ['1:20 "in" has nothing at "a.b"']],
    [
      '<cond><case test="{{in}} =">1</case><case>2</case></cond>',
      ['1:13 the test cannot be read at character 9: a single = compares nothing'],
    ],
  ])('%s', (xml, expected) => {
    expect(complaints(xml, { in: {} })).toEqual(expected)
  })

  it('a template does not see what its caller sees', () => {
    const xml = `<templates>
      <template name="f" params="a"><task><description>{{a}} {{secret}} {{slot}}</description></task></template>
      <task type="sequential"><steps>
        <task output_slot="slot"><description>x</description></task>
        <call template="f"><arg>1</arg></call>
      </steps></task>
    </templates>`
    expect(complaints(xml, { secret: 1 })).toEqual([
      '2:62 "secret" is not visible here',
      '2:73 "slot" is not visible here',
    ])
  })

  it('a slot of a case is not seen outside of it', () => {
    const xml = `<task type="sequential"><steps>
      <cond><case test="1 == 2">0</case><case><task output_slot="inner"><description>x</description></task></case></cond>
      <task><description>{{inner}}</description></task>
    </steps></task>`
    expect(complaints(xml)).toEqual(['3:26 "inner" is not visible here'])
  })

  it('templates call each other five deep and no deeper', () => {
    const chain = (depth: number) =>
      `<templates>${Array.from(
        { length: depth },
        (_, i) =>
          `<template name="t${i}">${i === depth - 1 ? task : `<call template="t${i + 1}"/>`}</template>`,
      ).join('')}<call template="t0"/></templates>`
    expect(complaints(chain(5))).toEqual([])
    expect(complaints(chain(6))).toEqual([
      expect.stringContaining('templates call each other more than 5 deep: t0 → t1 → t2 → t3 → t4 → t5'),
    ])
  })

  it('a template that calls itself is refused', () => {
    expect(complaints('<template name="f"><call template="f"/></template>')).toEqual([
      expect.stringContaining('more than 5 deep: f → f → f → f → f → f'),
    ])
  })

  it.each([
    ['nodes', (next: string) => sequence(`<call template="${next}"><arg>1</arg></call>`.repeat(40)), task],
    [
      'calls',
      (next: string) =>
        `{{${next}(${Array(10)
          .fill(`${next}(${Array(10).fill('1').join(', ')})`)
          .join(', ')})}}`,
      '{{p0}}',
    ],
  ])('templates that multiply by their %s are refused within a second', (what, body, end) => {
    const params = what === 'nodes' ? 'p0' : Array.from({ length: 10 }, (_, i) => `p${i}`).join(' ')
    const xml = `<templates>${['b', 'c', 'd', 'e']
      .map((next, i) => `<template name="${'abcd'[i]}" params="${params}">${body(next)}</template>`)
      .join(
        '',
      )}<template name="e" params="${params}">${end}</template><call template="a">${params.replaceAll(/p\d+/g, '<arg>1</arg>')}</call></templates>`
    const start = process.cpuUsage()
    expect(complaints(xml)).toHaveLength(1)
    expect(complaints(xml)[0]).toMatch(/more than (500 nodes|5000 parts)/)
    expect(processorMs(start)).toBeLessThan(1000)
  })
})

describe('a file that is meant to hurt', () => {
  const described = (text: string) => `<task><description>${text}</description></task>`
  const size = 250_000

  it.each([
    ['open braces', described('{'.repeat(size))],
    ['expressions without end', described('{{a '.repeat(size / 4))],
    ['closing braces', described('}'.repeat(size))],
    ['lines', described('\nx'.repeat(size / 2))],
    ['spaces', described(`{{${' '.repeat(size)}}}`)],
    ['one long path', described(`{{in${'.a'.repeat(size / 2)}}}`)],
    ['calls in calls', described(`{{${'f('.repeat(size / 2)}}}`)],
    ['one long test', `<cond><case test="${'('.repeat(size)}">1</case><case>2</case></cond>`],
    [
      'a test of many parts',
      `<cond><case test="in${' and in'.repeat(size / 7)}">1</case><case>2</case></cond>`,
    ],
    ['unknown attributes', `<task ${Array.from({ length: 20_000 }, (_, i) => `b${i}=""`).join(' ')}/>`],
    ['unknown elements', `<task>${'<a/>'.repeat(9_000)}</task>`],
    ['one long name', `<${'a'.repeat(size / 3)}/>`],
    ['texts and comments in turn', described('x<!---->'.repeat(size / 9))],
    ['names that are not visible', described(Array.from({ length: 15_000 }, (_, i) => `{{n${i}}}`).join(''))],
  ])('is answered within a second: %s', (_, xml) => {
    const start = process.cpuUsage()
    const said = complaints(xml, { in: {} })
    expect(processorMs(start)).toBeLessThan(1000)
    expect(said.length).toBeLessThanOrEqual(50)
    for (const message of said) expect(message.length).toBeLessThan(500)
  })

  it('lets no value grow deeper than a draft may be', async () => {
    const { draft } = compiled(
      `<cond><case test="1 == 2">${'['.repeat(50_000)}${']'.repeat(50_000)}</case><case>${task}</case></cond>`,
    )
    expect(parseDraft(draft)).toMatchObject({ ok: false })
  })
})

describe('compatibility', () => {
  it('a template without an output format compiles as one that says nothing about its output', () => {
    const { draft, envelope } = compiled(task)
    expect(draft.nodes[0]).toEqual({
      id: 'task',
      capabilityId: 'proviso.answer',
      inputs: {},
      contracts: { input: { type: 'object', required: [] }, output: { type: 'string' } },
      instructions: 'Do it',
    })
    expect(envelope.outputContract).toEqual({ schema: {} })
  })

  it('the declaration is a property of the node', () => {
    const { draft } = compiled(
      '<task><description>List files in directory</description><output_format type="json" schema="string[]" /></task>',
    )
    expect(draft.nodes).toMatchObject([
      {
        contracts: { output: { type: 'array', items: { type: 'string' } } },
        data: { outputFormat: { type: 'json', schema: 'string[]' } },
      },
    ])
  })
})
