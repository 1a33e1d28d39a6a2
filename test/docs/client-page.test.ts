/** Every program of the page about the client runs as printed against a real server; only the port differs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import type { JsonSchema } from '../../src/index.ts'
import { local, serve } from '../server/support.ts'
import { requireBuild, root, runNode } from '../support.ts'

const page = readFileSync(join(root, 'docs/reference/client.md'), 'utf8')
/** Without the one for React, which `docs/howto/react.md` has too. */
const programs = [...page.matchAll(/^```ts\n([\s\S]*?)^```/gm)]
  .map(([, code = '']) => code)
  .filter((code) => !code.includes('proviso/react'))

const token = 'choose-a-long-random-text'
const line: JsonSchema = { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] }
const topic: JsonSchema = { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] }
const contracts = { inputContract: topic, outputContract: line }
const write = local('write', ({ topic }) => ({ line: `Time for ${topic}.` }), contracts)

beforeAll(() => requireBuild())

async function runProgram(at: number, address: string) {
  // The first lines are TypeScript only where they name a type.
  const code = programs[at]!.replace('http://127.0.0.1:3003', address).replace('<{ line: string }>', '')
  const done = await runNode(['--input-type=module', '--eval', code])
  expect(done.stderr).toBe('')
  return done.stdout.trim().split('\n')
}

describe('the programs of the page', () => {
  it('run as printed, one after the other', async () => {
    const { address } = await serve({ capabilities: [write], env: {} }, { auth: { token } })
    const first = await runProgram(0, address)
    expect(first.at(-1)).toBe('Time for tea.')
    expect(first[0]).toContain("{ line: 'Time for tea.' }")

    const waiting = await createClient({ url: address, token }).runs.start({
      objective: 'Write one line about tea',
      inputs: { topic: 'tea' },
      outputContract: { schema: line },
      policies: { requiresHitlApproval: true },
    })
    await waiting.result()
    expect((await runProgram(1, address))[0]).toMatch(new RegExp(`^${waiting.id} \\[ '.+' \\]$`))
    expect(await runProgram(2, address)).toEqual(['Time for tea.'])
    const events = await runProgram(3, address)
    expect(events[0]).toMatch(/^1 start/)
    expect(events.at(-1)).toMatch(/^\d+ complete/)
    // A function writes the line here, and only models and agents have partial values.
    expect(await runProgram(4, address)).toEqual(["{ line: 'Time for tea.' }"])
    expect(await runProgram(5, address)).toEqual(['auth/invalid 401'])
  })

  it('are all of them', () => {
    expect(programs).toHaveLength(6)
  })
})
