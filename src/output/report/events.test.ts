/** Trace events: silent on clean text, one attempt per stage that acted, and the outcome. */
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import { parse } from '../parse.ts'
import type { ParseOptions, ReaderEvent } from '../types.ts'

const schema: JsonSchema = {
  type: 'object',
  properties: { n: { type: 'integer' }, u: { anyOf: [{ type: 'integer' }, { type: 'boolean' }] } },
  required: ['n'],
}

function eventsOf(text: string, options: ParseOptions = {}, against: JsonSchema = schema): ReaderEvent[] {
  const events: ReaderEvent[] = []
  parse(text, against, { ...options, onEvent: (event) => events.push(event) })
  return events
}

describe('events', () => {
  it('are not sent for clean text', () => {
    expect(eventsOf('{"n": 1}')).toEqual([])
    expect(eventsOf(' {"n": 1}\n')).toEqual([])
  })

  it('report each stage that acted, in the order of the chain', () => {
    expect(eventsOf('Sure: {n: "1",}')).toEqual([
      { type: 'output.coercion.attempt', stage: 'extract', reason: 'surroundings' },
      { type: 'output.coercion.success', stage: 'extract', transforms: ['surroundings'] },
      { type: 'output.coercion.attempt', stage: 'syntactic', reason: 'bare-key' },
      { type: 'output.coercion.success', stage: 'syntactic', transforms: ['bare-key', 'trailing-comma'] },
      {
        type: 'output.coercion.attempt',
        stage: 'semantic',
        reason: 'str->int',
        expected_type: 'integer',
        actual_type: 'string',
      },
      { type: 'output.coercion.success', stage: 'semantic', transforms: ['str->int'] },
    ])
  })

  it('carry the branches that were chosen', () => {
    const [, success] = eventsOf('{"n": 1, "u": "true"}')
    expect(success).toMatchObject({ stage: 'semantic', branch_choices: { '/u': 1 } })
    const union = { anyOf: [{ type: 'integer' }, { type: 'object', properties: { a: { type: 'integer' } } }] }
    expect(eventsOf('{"a": "1"}', {}, union)).toContainEqual(
      expect.objectContaining({ branch_index: 1, branch_choices: { '': 1 } }),
    )
  })

  it('end with one failure that quotes the first issue, shortened', () => {
    const events = eventsOf('{"n": "x"}')
    expect(events).toEqual([
      { type: 'output.coercion.fail', stage: 'semantic', error_preview: expect.stringContaining('integer') },
    ])
    expect(eventsOf('Sure: {"n": "x"}').map(({ type, stage }) => `${type} ${stage}`)).toEqual([
      'output.coercion.attempt extract',
      'output.coercion.fail semantic',
    ])
  })

  it('say so when nothing was found', () => {
    expect(eventsOf('', {})).toEqual([
      { type: 'output.coercion.fail', stage: 'extract', error_preview: 'the text is empty' },
    ])
  })

  it('name the stages of the caller', () => {
    const stages = [{ name: 'double', run: () => ({ n: 2 }) }]
    expect(eventsOf('{"n": 1}', { stages })).toEqual([
      { type: 'output.coercion.attempt', stage: 'custom', reason: 'double' },
      { type: 'output.coercion.success', stage: 'custom', transforms: ['double'] },
    ])
  })

  it('are marked in shadow mode', () => {
    const events = eventsOf('{n: 1}', { shadow: true })
    expect(events.map((event) => event.shadow)).toEqual([true, true])
  })
})
