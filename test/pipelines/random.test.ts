/** Random pipelines, run by the engine and gone through by a reference that knows nothing of drafts: the same answers, the same calls. */
import { afterAll, describe, expect, it } from 'vitest'
import {
  createApp,
  type DefinedCapability,
  defineCapability,
  type Json,
  type JsonSchema,
} from '../../src/index.ts'
import { Random } from '../random.ts'
import { canonicalJson as canonical } from '../seams/base.ts'
import { type RandomPipeline, randomPipeline } from './random-pipeline.ts'
import { Ended, interpret } from './reference.ts'
import { compile, readInput, scripted } from './support.ts'

const cases = 200
const seed = 20_261_116

/** A number from 0 to 3 that depends on all of a value, whatever the order of its keys. */
function numberOf(value: Json): number {
  let sum = 7
  for (const char of canonical(value)) sum = (sum * 31 + char.charCodeAt(0)) % 65_521
  return sum % 4
}

const calculate = (input: Json): Json => ({ n: numberOf(input), tag: `t${canonical(input).length % 10}` })

const pick = (input: Json, names: readonly string[]): readonly string[] => {
  const chosen = names.filter((_, index) => (numberOf([input, index]) & 1) === 1)
  return chosen.length > 0 ? chosen : names.slice(0, 1)
}

async function runOf(pipeline: RandomPipeline, input: Json) {
  const called: Json[] = []
  const calc = defineCapability({
    capabilityId: 'calc',
    kind: 'local',
    inputContract: { type: 'object', required: ['input'], properties: { input: true } },
    outputContract: {
      type: 'object',
      required: ['n', 'tag'],
      properties: { n: { type: 'integer' }, tag: { type: 'string' } },
    } as JsonSchema,
    run: (given) => {
      const { input: value } = given as { input: Json }
      called.push(value)
      return calculate(value)
    },
  })
  const compiled = compile(JSON.stringify(pipeline), { input, own: [calc] })
  const app = await createApp({
    env: {},
    providers: [
      scripted((request) => {
        const names = (request.schema as { items: { enum: string[] } }).items.enum
        return JSON.stringify(pick(readInput(request), names))
      }),
    ],
    capabilities: [...compiled.capabilities, calc] as DefinedCapability[],
  })
  try {
    const result = await app.run(compiled.envelope, { draft: compiled.draft })
    return { ...result, called, nodes: compiled.draft.nodes.length }
  } finally {
    await app.close()
  }
}

const byText = (values: readonly Json[]) => values.map(canonical).sort()

describe('a random pipeline', () => {
  const seen = { completed: 0, failed: 0, nodes: 0 }
  afterAll(() => {
    // Most must get to their end, and some not, or the cases say little.
    expect(seen.completed).toBeGreaterThan(cases * 0.7)
    expect(seen.failed).toBeGreaterThan(0)
    expect(seen.nodes / cases).toBeGreaterThan(10)
  })

  it.each(Array.from({ length: cases }, (_, n) => n))('%i means what it says', async (n) => {
    const random = new Random(seed + n)
    const pipeline = randomPipeline(random)
    const input = { n: random.int(0, 3), items: ['a', 2, null].slice(0, random.int(0, 3)), none: [] }
    const called: Json[] = []
    let expected: Json | undefined
    try {
      expected = interpret(pipeline, input, {
        pick,
        calc(value) {
          called.push(value)
          return calculate(value)
        },
      })
    } catch (error) {
      if (!(error instanceof Ended)) throw error
    }
    const done = await runOf(pipeline, input)
    const about = JSON.stringify({ pipeline, input, issues: done.issues }, null, 1)
    seen[expected === undefined ? 'failed' : 'completed']++
    seen.nodes += done.nodes
    expect(done.status, about).toBe(expected === undefined ? 'failed' : 'completed')
    if (expected === undefined) return
    expect(done.output, about).toEqual(expected)
    expect(byText(done.called), about).toEqual(byText(called))
  })
})
