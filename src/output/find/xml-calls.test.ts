/** Calls written as XML are read toward the schema of a call, of a list of calls, and of the arguments alone. */
import { describe, expect, it } from 'vitest'
import { parse } from '../parse.ts'

const weather = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: 'integer' },
    tags: { type: 'array', items: { type: 'string' } },
  },
  required: ['city', 'days'],
} as const
const call = {
  type: 'object',
  properties: { name: { type: 'string' }, arguments: weather },
  required: ['name', 'arguments'],
} as const
const args = { city: 'Paris', days: 3, tags: ['a'] }

const NOTATIONS = {
  'named parameters': `<invoke name="get_weather">
<parameter name="city">Paris</parameter><parameter name="days">3</parameter><parameter name="tags">["a"]</parameter>
</invoke>`,
  'parameters on lines of their own': `<tool_call>
<function=get_weather>
<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3\n</parameter>\n<parameter=tags>\n["a"]\n</parameter>
</function>
</tool_call>`,
  'keys and values': `<tool_call>get_weather
<arg_key>city</arg_key><arg_value>Paris</arg_value>
<arg_key>days</arg_key><arg_value>3</arg_value>
<arg_key>tags</arg_key><arg_value>['a',]</arg_value>
</tool_call>`,
  'an element for each key':
    '<function_call name="get_weather"><city>Paris</city><days>3</days><tags>["a"]</tags></function_call>',
}

describe('a call written as XML', () => {
  it.each(Object.entries(NOTATIONS))('is read: %s', (_, text) => {
    expect(parse(text, weather)).toMatchObject({ ok: true, value: args })
    expect(parse(`I look it up.\n\n${text}\n\nOne moment.`, call)).toMatchObject({
      ok: true,
      value: { name: 'get_weather', arguments: args },
    })
    const twice = parse(`${text}\n${text.replace('Paris', 'Rome')}`, { type: 'array', items: call })
    expect(twice.ok && twice.value.map((each) => each.arguments.city)).toEqual(['Paris', 'Rome'])
  })

  it('keeps a text as it is where a text is wanted', () => {
    const schema = { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] }
    for (const code of ['{"a": 1}', '[1]', '007', '1e5', 'a < b', '  indented']) {
      const text = `<invoke name="run"><parameter name="code">${code}</parameter></invoke>`
      expect(parse(text, schema)).toMatchObject({ ok: true, value: { code } })
    }
  })

  it('that is cut off, or in a string of the answer, is not an answer', () => {
    expect(parse('<invoke name="f"><parameter name="city">Par', weather).ok).toBe(false)
    const quoted = { city: '<parameter name="city">Rome</parameter>', days: 1 }
    expect(parse(`Sure: ${JSON.stringify(quoted)}`, weather)).toMatchObject({ ok: true, value: quoted })
  })

  it('is not read where the tolerance is lower', () => {
    expect(parse(NOTATIONS['named parameters'], weather, { tolerance: 1 }).ok).toBe(false)
  })
})
