/** Plays the cases of several turns: each call that must be made is made once, and no other. */
import { describe, expect, it } from 'vitest'
import { defineAgent, type Json, tool } from '../../../src/index.ts'
import { type Call, chatServer, resultsIn, type Turn } from '../chat-server.ts'
import { openWith } from '../support.ts'
import { type BfclCase, cases } from './cases.ts'

const object = (properties: object, required = Object.keys(properties)) =>
  ({ type: 'object', properties, required, additionalProperties: false }) as const
const word = { type: 'string' }

/** Tools over a small world, which notes what is done in it. */
function makeWorld() {
  const made: string[] = []
  const files = new Map<string, string>()
  const define = (
    id: string,
    input: object,
    {
      note,
      run,
    }: { note: (given: Record<string, string>) => string; run: (given: Record<string, string>) => Json },
  ) =>
    tool({
      id,
      description: `Does ${id}`,
      input,
      output: { type: 'object' },
      idempotent: true,
      run: (given: unknown) => {
        const inputs = given as Record<string, string>
        made.push(`${id} ${note(inputs)}`)
        return run(inputs)
      },
    } as never)
  const tools = [
    define('find_city', object({ name: word, country: { enum: ['CH', 'IT'] } }, ['name']), {
      note: ({ name = '' }) => name,
      run: ({ name }) => ({ cityId: `id-${name}` }),
    }),
    define('weather', object({ cityId: word }), {
      note: ({ cityId = '' }) => cityId,
      run: ({ cityId = '' }) => {
        if (!cityId.startsWith('id-')) throw new Error(`"${cityId}" is no id of a city`)
        return { sky: 'sunny' }
      },
    }),
    define('add', object({ a: { type: 'number' }, b: { type: 'number' } }), {
      note: ({ a, b }) => `${a} ${b}`,
      run: ({ a, b }) => ({ sum: Number(a) + Number(b) }),
    }),
    define('mkdir', object({ path: word }), { note: ({ path = '' }) => path, run: () => ({ ok: true }) }),
    define('write', object({ path: word, text: word }), {
      note: ({ path = '' }) => path,
      run: ({ path = '', text = '' }) => {
        files.set(path, text)
        return { ok: true }
      },
    }),
    define('read', object({ path: word }), {
      note: ({ path = '' }) => path,
      run: ({ path = '' }) => {
        const text = files.get(path)
        if (text === undefined) throw new Error(`"${path}" is not there`)
        return { text }
      },
    }),
  ]
  return { tools, made }
}

async function play({ turns }: BfclCase) {
  const { tools, made } = makeWorld()
  const server = await chatServer((turn, seen): Turn => {
    const given = turns[Math.min(turn, turns.length - 1)] as BfclCase['turns'][number]
    const results = resultsIn(seen).map(String)
    const next = typeof given === 'function' ? given(results) : given
    return typeof next === 'string'
      ? { text: JSON.stringify({ answer: next }) }
      : { calls: next as readonly Call[] }
  })
  const output = object({ answer: word })
  const agent = defineAgent({
    id: 'worker',
    model: 'compatible/scripted',
    input: { type: 'object' },
    output,
    tools,
  })
  const app = await openWith(server, [agent])
  const result = await app.run(
    { objective: 'Do it', outputContract: { schema: output } },
    {
      draft: { nodes: [{ id: 'work', capabilityId: 'worker' }] },
    },
  )
  await server.close()
  return { result, made }
}

describe.each([...new Set(cases.map(({ category }) => category))])('%s', (category) => {
  it.each(cases.filter((each) => each.category === category))('$name', async (given) => {
    const { result, made } = await play(given)
    expect(result).toMatchObject({ status: 'completed', output: { answer: given.answer } })
    expect(made.toSorted()).toEqual(given.made.toSorted())
  })
})

it('there are at least 25 cases', () => expect(cases.length).toBeGreaterThanOrEqual(25))
