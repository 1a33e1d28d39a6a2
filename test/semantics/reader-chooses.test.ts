/** Which of several valid readings is the answer: the one that accounts for more of the text, however deep it is encoded. */
import { describe, expect, it } from 'vitest'
import { createReader, parse } from '../../src/output/index.ts'

const LIST = { type: 'array', items: { type: 'string' } }
const PERSON = { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } }
const REQUIRED = { ...PERSON, required: ['name', 'age'] }
const CALLS = {
  type: 'array',
  items: {
    type: 'object',
    properties: { name: { type: 'string' }, arguments: { type: 'object' } },
    required: ['name', 'arguments'],
  },
}
const ADA = { name: 'Ada', age: 36 }

describe('an open list in a closed fence', () => {
  const text = '```json\n["a","b"\n```\nHope this helps!'

  it('ends with the fence, and nothing was cut off', () => {
    for (const acceptTruncated of [true, false])
      expect(parse(text, LIST, { acceptTruncated })).toMatchObject({
        ok: true,
        value: ['a', 'b'],
        truncated: false,
      })
  })

  it('never shows the prose behind the fence in a stream', () => {
    const reader = createReader(LIST)
    for (const character of text) {
      const { partial } = reader.push(character)
      expect(JSON.stringify(partial ?? [])).not.toMatch(/`|Hope/)
    }
    expect(reader.end()).toMatchObject({ ok: true, value: ['a', 'b'] })
  })
})

describe('a whole answer encoded as a string and wrapped', () => {
  const once = JSON.stringify(JSON.stringify({ result: ADA }))

  it.each([
    ['as the text', once],
    ['encoded twice', JSON.stringify(once)],
    ['in a fence', `\`\`\`json\n${once}\n\`\`\``],
    ['behind a draft in the reasoning', `<think>{"name":"X","age":1}</think>${once}`],
  ])('%s is unfolded and lifted', (_, text) => {
    expect(parse(text, REQUIRED)).toMatchObject({ ok: true, value: ADA })
    expect(parse(text, PERSON)).toMatchObject({ ok: true, value: ADA })
  })
})

describe('a value that accounts for nothing', () => {
  it('of a citation loses to the object behind it', () => {
    const schema = { type: 'object', properties: { ids: { type: 'array', items: { type: 'integer' } } } }
    const text = "As in [3], we have {'ids': ['1', 2,], 'a': 1, 'b': 2, 'c': 3, 'd': [{'e': 1}]}"
    expect(parse(text, schema)).toMatchObject({ ok: true, value: { ids: [1, 2] } })
  })

  it('is empty and loses to an object with content, however many repairs that needs', () => {
    const text =
      "We start with {} and get {'name': 'Ada', 'age': '36', 'x': 'y', 'z': 'w', 'u': 'v', 'q': 'r',}"
    expect(parse(text, PERSON)).toMatchObject({ ok: true, value: ADA })
  })

  it('is the answer where there is no other', () => {
    expect(parse('Nothing found: {}', PERSON)).toMatchObject({ ok: true, value: {} })
  })
})

describe('a nested object', () => {
  it('is not taken for the root where the root is valid too', () => {
    const schema = { type: 'object', properties: { value: { type: 'string' } }, additionalProperties: false }
    const extra = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`x${index}`, index]))
    const text = JSON.stringify({ value: 'a', ...extra, child: { value: 'b' } })
    expect(parse(text, schema)).toMatchObject({ ok: true, value: { value: 'a' } })
  })
})

describe('a key', () => {
  it('is not renamed in a union when another branch has it as written', () => {
    const branch = (name: string) => ({
      type: 'object',
      properties: { [name]: { type: 'integer' } },
      required: [name],
      additionalProperties: false,
    })
    const schema = { anyOf: [branch('id'), branch('id ')] }
    expect(parse('{"id ": "1"}', schema)).toMatchObject({ ok: true, value: { 'id ': 1 } })
  })
})

describe('several calls in one text', () => {
  const a = { name: 'a', arguments: { x: 1 } }
  const b = { name: 'b', arguments: { x: 2 } }
  const wrapped = (call: typeof a) => ({
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  })

  it.each([
    ['objects on lines', `${JSON.stringify(a)}\n${JSON.stringify(b)}`],
    ['lists on lines', `${JSON.stringify([a])}\n${JSON.stringify([b])}`],
    [
      'lists in tags of their own',
      [a, b].map((call) => `<tool_call>\n${JSON.stringify([call])}\n</tool_call>`).join('\n'),
    ],
    ['wrapped together', JSON.stringify({ tool_calls: [a, b] })],
    ['each in a wrapper of its own', JSON.stringify({ tool_calls: [wrapped(a), wrapped(b)] })],
    ['a list of wrappers', JSON.stringify([wrapped(a), wrapped(b)])],
    ['encoded as a string', JSON.stringify(JSON.stringify({ tool_calls: [wrapped(a), wrapped(b)] }))],
  ])('%s are all there, in order', (_, text) => {
    expect(parse(text, CALLS)).toMatchObject({ ok: true, value: [a, b] })
  })

  it('are not joined with an earlier list that prose sets apart', () => {
    const text = `First idea: ${JSON.stringify([a])}\n\nBetter: ${JSON.stringify([b])}`
    const result = parse(text, CALLS)
    expect(result.ok && (result.value as unknown[]).length).toBe(1)
  })
})
