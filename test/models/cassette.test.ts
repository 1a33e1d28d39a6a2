/** Cassettes: what was recorded is what is played, readable and redacted, and what is missing fails. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateValue } from '../../src/adapters/models/index.ts'
import type { Provider } from '../../src/index.ts'
import { cassette, rehearsal, useCassette } from '../../src/testing/index.ts'

const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
let file = ''
beforeAll(() => {
  file = join(mkdtempSync(join(tmpdir(), 'proviso-tape-')), 'tea.cassette.json')
})
afterAll(() => rmSync(join(file, '..'), { recursive: true, force: true }))

const ask = (provider: Provider, objective = 'Write about tea') =>
  generateValue({ providers: [provider], model: 'openai/gpt-5', objective, schema })

describe('a cassette', () => {
  it('plays what was recorded, without the provider', async () => {
    const recording = cassette({ file, mode: 'record', provider: rehearsal({ noise: 0.9 }) })
    const recorded = [await ask(recording), await ask(recording), await ask(recording, 'And one more')]
    recording.save()
    const playing = cassette({ file })
    const played = [await ask(playing), await ask(playing), await ask(playing, 'And one more')]
    expect(played.map(({ output }) => output)).toEqual(recorded.map(({ output }) => output))
    expect(playing.misses).toEqual([])
    expect(playing.unused).toBe(0)
  })

  it('can be read by people: prompts line by line', () => {
    const { version, entries } = JSON.parse(readFileSync(file, 'utf8'))
    expect(version).toBe(1)
    expect(entries[0].request.prompt).toEqual(['Objective: "Write about tea"', 'Inputs: {}'])
    expect(entries[0].request.schemaHash).toMatch(/^[0-9a-f]{64}$/)
  })

  it('a miss is an error that cannot be taken for an answer, and fails its test', async () => {
    const checks: (() => void)[] = []
    const tape = useCassette({ afterEach: (check) => checks.push(check), afterAll: () => {} }, { file })
    expect(await ask(tape)).toMatchObject({ outcome: 'ok' })
    for (const check of checks) check()
    expect(await ask(tape, 'Something new')).toMatchObject({ outcome: 'provider_error' })
    expect(() => checks[0]?.()).toThrow(
      /Cannot replay a call of[\s\S]*has no recording[\s\S]*Record it again/,
    )
    for (const check of checks) check()
  })

  it('does not play an answer twice', async () => {
    const tape = cassette({ file })
    for (let n = 0; n < 2; n++) await ask(tape)
    expect(await ask(tape)).toMatchObject({ outcome: 'provider_error' })
    expect(tape.misses).toHaveLength(1)
  })

  it('shows the nearest recording of a missing call, and what differs', async () => {
    const tape = cassette({ file })
    await ask(tape, 'Write about green tea')
    expect(tape.misses[0]).toMatch(/The nearest is [0-9a-f]{12}; - recorded, \+ requested:/)
    expect(tape.misses[0]).toContain('- prompt: Objective: "Write about tea"')
    expect(tape.misses[0]).toContain('+ prompt: Objective: "Write about green tea"')
    expect(tape.misses[0]).not.toContain('system:')
  })
})
