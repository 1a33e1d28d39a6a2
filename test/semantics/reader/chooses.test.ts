/** Which of several valid readings is the answer: the one that accounts for more of the text, however deep it is encoded. */
import { describe, expect, it } from 'vitest'
import { createReader, parse } from '../../../src/output/index.ts'

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

describe('a text in a string', () => {
  const json = JSON.stringify(ADA)

  it.each([
    ['with words around the value', { content: `Here it is:\n${json}\nAnything else?` }],
    ['with a fence', { choices: [{ message: { content: `\`\`\`json\n${json}\n\`\`\`` } }] }],
    ['with a draft before it', { content: `<think>{"name":"X","age":1}</think>\n${json}` }],
    ['encoded once more', { content: JSON.stringify(json) }],
  ])('%s is read as a text of its own', (_, wrapper) => {
    expect(parse(JSON.stringify(wrapper), REQUIRED)).toMatchObject({ ok: true, value: ADA })
  })

  it('is found on a line of its own between prose', () => {
    const text = `The result:\n${JSON.stringify(`Here it is: ${json}`)}\nAnything else?`
    expect(parse(text, REQUIRED)).toMatchObject({ ok: true, value: ADA })
  })

  it('is left alone under a key that the schema declares', () => {
    const schema = { ...REQUIRED, properties: { ...PERSON.properties, note: { type: 'string' } } }
    expect(parse(JSON.stringify({ note: `Not ${json}` }), schema).ok).toBe(false)
  })
})

describe('a value that accounts for nothing', () => {
  it('of a citation is no value where there is no other', () => {
    const schema = { type: 'object', properties: { ids: { type: 'array', items: { type: 'integer' } } } }
    expect(parse('As shown in [3], nothing was found.', schema).ok).toBe(false)
    expect(parse('[3]', schema)).toMatchObject({ ok: true, value: { ids: [3] } })
  })

  it('of a citation loses to a list with content behind it', () => {
    const schema = { type: 'array', items: { type: 'integer' } }
    expect(parse('As shown in [3]:\n\n[10, 20,]', schema)).toMatchObject({ ok: true, value: [10, 20] })
  })

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

describe('a nested object in a wrapper', () => {
  it('is not taken for what is around it', () => {
    const schema = { type: 'object', properties: { value: { type: 'string' } }, additionalProperties: false }
    const text = JSON.stringify({
      status: 'ok',
      data: { value: 'a', x: 1, y: 2, z: 3, child: { value: 'b' } },
    })
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
    [
      'in tags, each without its last brace',
      [a, b].map((call) => `<tool_call>\n${JSON.stringify(call).slice(0, -1)}\n</tool_call>`).join('\n'),
    ],
    ['wrapped together', JSON.stringify({ tool_calls: [a, b] })],
    ['each in a wrapper of its own', JSON.stringify({ tool_calls: [wrapped(a), wrapped(b)] })],
    ['a list of wrappers', JSON.stringify([wrapped(a), wrapped(b)])],
    ['encoded as a string', JSON.stringify(JSON.stringify({ tool_calls: [wrapped(a), wrapped(b)] }))],
  ])('%s are all there, in order', (_, text) => {
    expect(parse(text, CALLS)).toMatchObject({ ok: true, value: [a, b] })
  })

  it('are all there, whatever the reasoning before them holds', () => {
    const text = `<think>${JSON.stringify([b])}</think>\nCalling both:\n${JSON.stringify(a)}\n${JSON.stringify(b)}`
    expect(parse(text, CALLS)).toMatchObject({ ok: true, value: [a, b] })
  })

  it('are joined from lists on lines behind words', () => {
    const text = `Calling both:\n${JSON.stringify([a])}\n${JSON.stringify([b])}`
    expect(parse(text, CALLS)).toMatchObject({ ok: true, value: [a, b] })
  })

  it('are not joined with an earlier list that prose sets apart', () => {
    const text = `First idea: ${JSON.stringify([a])}\n\nBetter: ${JSON.stringify([b])}`
    const result = parse(text, CALLS)
    expect(result.ok && (result.value as unknown[]).length).toBe(1)
  })
})

describe('calls in other notations than the schema', () => {
  const a = { name: 'get_weather', arguments: { city: 'Paris', days: 2 } }
  const b = { name: 'web.search', arguments: { query: 'rain' } }
  const write = (call: (one: typeof a | typeof b) => string, seam = '\n') => [a, b].map(call).join(seam)
  const json = JSON.stringify

  it.each([
    ['round brackets', write((c) => `${c.name}(${json(c.arguments)})`)],
    ['a name before braces', write((c) => `${c.name}${json(c.arguments)}`)],
    ['a name on a line', write((c) => `${c.name}\n${json(c.arguments)}`)],
    ['a name before a fence', write((c) => `${c.name}\n\`\`\`json\n${json(c.arguments)}\n\`\`\``)],
    ['a name in a tag', write((c) => `<function=${c.name}>${json(c.arguments)}</function>`)],
    ['an action and its input', write((c) => `Action: ${c.name}\nAction Input: ${json(c.arguments)}`)],
    ['other keys', write((c) => json({ name: c.name, parameters: c.arguments }), '; ')],
    ['names as keys', json([a, b].map((c) => ({ [c.name]: c.arguments })))],
    ['pairs', json([a, b].map((c) => [c.name, c.arguments]))],
    ['keywords', '[get_weather(city="Paris", days=2), web.search(query="rain")]'],
    ['keywords on lines', 'Sure:\nget_weather(city="Paris", days=2)\nweb.search(query="rain")'],
  ])('%s are read with their names', (_, text) => {
    expect(parse(text, CALLS)).toMatchObject({ ok: true, value: [a, b] })
    expect(parse(JSON.stringify(a), CALLS.items)).toMatchObject({ ok: true, value: a })
  })

  it('are not made up from words before an object', () => {
    for (const word of ['Result', 'Result:', 'The answer is', 'For example'])
      expect(parse(`${word}\n{"city": "Paris"}`, CALLS).ok, word).toBe(false)
    expect(parse('{"result": {"city": "Paris"}}', CALLS).ok).toBe(false)
    expect(parse('I would call get_weather() with {a city}.', CALLS).ok).toBe(false)
  })
})
