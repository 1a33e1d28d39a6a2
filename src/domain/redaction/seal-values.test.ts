/** Sealing is lossless: every sealed value comes back exactly; what has no secret is not touched. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { NewEvent } from '../event.ts'
import { createSealer, hasSealedText, openData, openNamed, sealData, sealEvent } from './seal-values.ts'

/** References to a table instead of ciphertexts. */
function createTable() {
  const texts: string[] = []
  const seal = (text: string) => {
    const index = texts.includes(text) ? texts.indexOf(text) : texts.push(text) - 1
    return `[sealed:v1.00000000.${String(index).padStart(40, '0')}]`
  }
  const open = (reference: string) => texts[Number(/(\d{40})\]$/.exec(reference)?.[1] ?? -1)]
  return { seal, open, texts }
}

const key = `AKIA${'SEALED01SEALED01'}`
const literal = `[sealed:v1.00000000.${'0'.repeat(40)}]`

it('opens to what was sealed, texts that look like references included', () => {
  const word = fc.oneof(fc.string(), fc.constantFrom(key, literal, 'pw://u:pass@h', `see ${key}.`))
  const name = fc.oneof(fc.string(), fc.constantFrom('password', 'apiKey', 'text', '__proto__', key))
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      word,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).value
  fc.assert(
    fc.property(json, (given) => {
      const { seal, open } = createTable()
      const before = JSON.stringify(given)
      const sealed = sealData(given, createSealer({ seal }))
      expect(JSON.stringify(sealed)).not.toContain(key)
      expect(JSON.stringify(openData(sealed, open))).toBe(before)
      expect(JSON.stringify(given)).toBe(before)
    }),
  )
})

it('seals values under names of secrets, in their own type, and keys in texts', () => {
  const { seal, open, texts } = createTable()
  const given = {
    password: 'abc',
    pin: 1,
    credentials: { pin: 42, list: ['x', true, null] },
    note: `is ${key}!`,
    n: 7,
  }
  const sealed = sealData(given, createSealer({ seal }))
  expect(texts).toEqual(['sabc', 'j42', 'sx', `s${key}`])
  expect(sealed).toMatchObject({ pin: 1, n: 7, credentials: { list: [expect.any(String), true, null] } })
  expect(openData(sealed, open)).toEqual(given)
  expect(hasSealedText(sealed)).toBe(true)
  expect(hasSealedText(given)).toBe(false)
  expect(openNamed(sealed, open)).toEqual({ ...given, note: sealed.note })
})

it('leaves data without secrets, what is redacted already, and references that nothing opens', () => {
  const { seal } = createTable()
  const clean = {
    a: [1, 'two', { three: null }],
    password: '[redacted]',
    token: '',
    maxTokens: 5,
    secret: null,
  }
  expect(sealData(clean, createSealer({ seal }))).toBe(clean)
  const sealed = sealData({ password: 'abc' }, createSealer({ seal }))
  expect(openData(sealed, () => undefined)).toEqual(sealed)
})

it('keeps ids, schemas and bindings of events readable, and seals literals', () => {
  const { seal, open } = createTable()
  const schema = { type: 'object', properties: { password: { type: 'string' } } }
  const node = {
    id: 'n',
    capabilityId: 'c',
    contracts: { input: schema },
    tokenBudget: 100,
    inputs: {
      password: { envelope: '/inputs/password' },
      token: [{ value: 'literal' }, { node: 'm', pointer: '/token' }],
    },
  }
  // Only the members that matter here.
  const event = {
    type: 'start',
    version: 1,
    at: 0,
    planVersion: 0,
    payload: {
      threadId: key,
      schemaHash: 'h',
      envelope: {
        objective: 'x',
        outputContract: { schema },
        inputs: { password: 'p' },
        metadata: { subject: key },
      },
      draft: {
        nodes: [{ ...node, body: { nodes: [node] } }],
        output: { properties: { secret: { value: 's' } } },
      },
    },
  } as unknown as NewEvent<'start'>
  const sealed = sealEvent(event, createSealer({ seal }))
  const reference = expect.stringMatching(/^\[sealed:/)
  const sealedNode = {
    ...node,
    inputs: { ...node.inputs, token: [{ value: reference }, { node: 'm', pointer: '/token' }] },
  }
  expect(sealed.payload).toEqual({
    ...event.payload,
    envelope: { ...event.payload.envelope, inputs: { password: reference } },
    draft: {
      nodes: [{ ...sealedNode, body: { nodes: [sealedNode] } }],
      output: { properties: { secret: { value: reference } } },
    },
  })
  expect(openData(sealed, open)).toEqual(event)
})
