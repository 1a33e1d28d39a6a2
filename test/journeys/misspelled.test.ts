/** What a program or a client misspells is refused with what to write instead. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineCapability } from '../../src/index.ts'
import { api, flexToken, serve } from '../server/support.ts'
import { answer, open } from './support.ts'

const Out = z.object({ a: z.string() })
const a = defineCapability({ id: 'a', input: z.object({}), output: Out, run: () => ({ a: 'x' }) })
const node = { id: 'n', capabilityId: 'a' }

it.each([
  ['outputs', { outputs: Out }, 'Did you mean "output"?'],
  ['aprove', { output: Out, aprove: 'final' }, 'Did you mean "approve"?'],
  ['aprove', { outputContract: { schema: {} }, aprove: 'final' }, 'Did you mean "approve"?'],
  ['input', { output: Out, input: {} }, 'Did you mean "inputs"?'],
])('a run with the key %s: %j', async (name, more, hint) => {
  const app = await open({ capabilities: [a] })
  const started = app.start({ objective: 'x', ...more } as never)
  await expect(started).rejects.toMatchObject({ issues: [{ at: { pointer: `/${name}` }, hint }] })
})

it.each([
  ['/nodes/0/retry/times', { retry: { times: 3 } }, 'Use one of max, backoffMs'],
  ['/nodes/0/inputs/q', { inputs: { q: 'hello' } }, 'Write { "value": "hello" } for a constant'],
])('a draft with %s', async (pointer, more, hint) => {
  const app = await open({ capabilities: [a] })
  const draft = { nodes: [{ ...node, ...more }] } as never
  const started = app.start({ objective: 'x', output: Out }, { draft })
  await expect(started).rejects.toMatchObject({ issues: [{ at: { pointer }, hint }] })
})

it('a request over HTTP: the body names its keys, and what is proved is named in the sentence', async () => {
  const { address } = await serve({ capabilities: [a] })
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${flexToken}`, 'content-type': 'application/json' }
    const response = await fetch(`${address}${api}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return (await response.json()) as { detail: string; issues: { hint: string }[] }
  }
  const envelope = { objective: 'x', outputContract: { schema: {} } }
  const unknown = await post('/runs', { envelope, idempotencykey: 'k' })
  expect(unknown.issues).toMatchObject([{ hint: expect.stringMatching(/^Use one of envelope, draft,/) }])
  expect(JSON.stringify(await post('/prove', { envelope: { objective: 'x' } }))).toContain(
    'Cannot use the envelope',
  )
})

it('an edit that is refused is located from the value, by the schema and by the validator of a library', async () => {
  const output = z.object({ a: z.string().refine((text) => text.length % 2 === 0, 'an even text') })
  const even = defineCapability({ id: 'a', input: z.object({}), output, run: () => ({ a: 'xx' }) })
  const app = await open({ capabilities: [even] })
  const run = await app.start({ objective: 'x', output, approve: 'final' }, { draft: { nodes: [node] } })
  expect((await run.result()).status).toBe('waiting')
  for (const value of [{ a: 7 }, { a: 'odd' }])
    await expect(answer(app, run.id, 'edit', value)).rejects.toMatchObject({
      issues: [{ at: { pointer: '/a' } }],
    })
})
