/** Golden traces (AROS-69): what a run leaves in its journal, event by event, for every way of reading an answer. */
import { expect, it } from 'vitest'
import { defineCapability, type JournalEvent, type ModelAnswer } from '../../src/index.ts'
import { rehearsal } from '../../src/testing/index.ts'
import { envelope, journal, open, text } from '../journeys/support.ts'

const writer = defineCapability({
  capabilityId: 'write',
  kind: 'model',
  inputContract: { type: 'object' },
  outputContract: text,
  preferredModels: ['house/tea'],
})
const said = (words: string, finish: 'stop' | 'length' = 'stop'): ModelAnswer => ({
  kind: 'text',
  text: words,
  finish,
  usage: { inputTokens: 10, outputTokens: 5 },
})

/** The first answer of the model; every later one is clean. */
const answers: readonly [name: string, first: ModelAnswer | undefined, processing: object][] = [
  ['clean', undefined, {}],
  ['repaired', said('Sure:\n```json\n{text: "tea",}\n```'), {}],
  ['coerced', said('{"text": 5}'), { coercion: { tolerant_level: 1, allow: { string: ['num->str'] } } }],
  ['model-repair', said('no tea today'), {}],
  ['truncated', said('{"text": "te', 'length'), {}],
  ['refused', { kind: 'refused', message: 'I must not', usage: {} }, {}],
  ['without-structured-output', said("{'text': 'tea'}"), { structured_output: 'off' }],
  ['reading-off', said('{"text": "tea"}'), { structured_output: 'off', aop: 'off' }],
]

it.each(answers)('of an answer that is %s', async (name, first, processing) => {
  const faults = first === undefined ? {} : { 1: first }
  const app = await open({ capabilities: [writer], providers: [rehearsal({ seed: 7, faults })] })
  const draft = { nodes: [{ id: 'write', capabilityId: 'write', data: { processing } }] }
  const { runId } = await app.run(envelope(), { draft: draft })
  const events = await journal(app, runId)
  await expect(`${events.map(line).join('\n')}\n`).toMatchFileSnapshot(`../cases/traces/${name}.txt`)
})

/** One event in one line: what it is, of which node, and what it says that is the same every time. */
function line({ type, nodeId, payload }: JournalEvent): string {
  const said = type === 'log' ? payload : pick(payload, ['attempt', 'outcome', 'status', 'usage', 'calls'])
  const shown = JSON.stringify(said)
  return [type, nodeId, shown === '{}' ? undefined : shown].filter((part) => part !== undefined).join(' ')
}

function pick(payload: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(payload).filter(([name]) => names.includes(name)))
}
