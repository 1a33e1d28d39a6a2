/**
 * The rehearsal model: an offline provider for tests and examples. It answers any schema with words of the prompt, and the
 * same seed and request give the same answer. `noise` damages the text as careless models do; `faults` injects failures.
 */
import { canonicalJson, sha256Hex } from '../../base/canonical.ts'
import { isObject, type Json } from '../../base/json.ts'
import type { ModelAnswer, ModelRequest, Provider, StructuredOutcome } from '../../domain/ports/provider.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { stack } from '../noise/combine.ts'
import { DAMAGES } from '../noise/damages.ts'
import { createRandom, mixSeed, type Random } from '../noise/random.ts'
import { joinTokens, type Layout, write } from '../noise/tokens.ts'
import type { Sample } from '../noise/types.ts'
import { makeValue, wordsIn } from './make-value.ts'

/** Returns the result of the n-th call instead of its answer; `undefined` keeps the answer. */
export type Fault = (call: {
  readonly index: number
  readonly request: ModelRequest
  readonly text: string
}) => ModelAnswer | undefined

export interface RehearsalOptions {
  /** Default 1. */
  readonly seed?: number
  /** Share of answers with damaged text, 0 to 1. Default 0. */
  readonly noise?: number
  /** Names of the kinds of damage (`DAMAGES` of `proviso/testing`). Default: all. */
  readonly kinds?: readonly string[]
  /** Injected failures: by the number of the call, counted from 1, or by a function. */
  readonly faults?: Fault | Readonly<Record<number, ModelAnswer>>
  /** Models it serves. Default `*`: all models without another provider. */
  readonly name?: string
}

export interface Rehearsal extends Provider {
  /** Calls so far. */
  readonly calls: number
}

/** Maximum number of requests whose repetitions are counted. */
const remembered = 10_000

/**
 * @example
 * const app = await createApp({ providers: [rehearsal({ seed: 7 })] })
 */
export function rehearsal(options: RehearsalOptions = {}): Rehearsal {
  const { seed = 1, noise = 0, faults, name = '*' } = options
  const repeats = new Map<string, number>()
  let calls = 0
  const outcome = (intent: ModelRequest['structured']): StructuredOutcome =>
    noise > 0 || intent === 'outlines' || intent === 'xgrammar'
      ? { kind: 'skipped', reason: 'the rehearsal model writes freely' }
      : { kind: 'applied', as: 'json_schema', weakened: 0 }

  return {
    name,
    free: true,
    // It calls no tool: what it would pass to them is made up.
    tools: true,
    get calls() {
      return calls
    },
    structured: ({ structured }) => outcome(structured),
    takesFile: () => true,
    async generate(request) {
      const index = ++calls
      const key = toKey(request)
      const repeat = (repeats.get(key) ?? 0) + 1
      if (repeats.size < remembered) repeats.set(key, repeat)
      const own = mixSeed(mixSeed(seed, Number.parseInt(key.slice(0, 8), 16)), repeat)
      const value = valueFor(request, own)
      const random = createRandom(own)
      const text =
        noise > 0 && request.schema !== undefined && random.chance(noise)
          ? damagedText(value, request.schema, {
              random,
              kinds: options.kinds,
              words: wordsIn(request.prompt),
            })
          : typeof value === 'string' && isText(request)
            ? value
            : JSON.stringify(value)
      const fault = typeof faults === 'function' ? faults({ index, request, text }) : faults?.[index]
      if (request.signal.aborted) return { kind: 'cancelled', message: 'The call was cancelled' }
      if (fault) return fault
      for (const chunk of text.match(/[\s\S]{1,16}/g) ?? []) {
        request.onText?.(chunk)
        request.onDelta?.({ type: 'text', delta: chunk })
      }
      if (request.signal.aborted) return { kind: 'cancelled', message: 'The call was cancelled' }
      const usage = { inputTokens: count(request.system + request.prompt), outputTokens: count(text) }
      const { structured = 'off' } = request
      return {
        kind: 'text',
        text,
        finish: 'stop',
        usage,
        ...(request.messages && { parts: [{ type: 'text' as const, text }] }),
        ...(structured !== 'off' && { structured: outcome(structured) }),
      }
    },
  }
}

/** Hashes everything that the answer depends on. */
function toKey({ model, system, prompt, schema = true }: ModelRequest): string {
  return sha256Hex(`${model}\n${system}\n${prompt}\n${canonicalJson(schema)}`)
}

function valueFor(request: ModelRequest, seed: number): Json {
  const { schema = { type: 'string' }, primary, prompt } = request
  const words = wordsIn(prompt)
  const value = makeValue(schema, { seed, words })
  if (primary === undefined || !isObject(value)) return value
  // The envelope of a careful model: high confidence, with the requested value inside.
  const inner = makeValue(primary, { seed, words })
  return {
    ...(value as { [key: string]: Json }),
    primary_output: typeof inner === 'string' ? inner : JSON.stringify(inner),
    confidence: 0.9,
    confidence_type: 'verbalized',
    escalate: false,
  }
}

function isText({ schema }: ModelRequest): boolean {
  return schema === undefined || (isObject(schema) && schema['type'] === 'string')
}

function count(text: string): number {
  return Math.ceil(text.length / 4)
}

interface NoisyOptions {
  readonly random: Random
  readonly kinds: readonly string[] | undefined
  readonly words: readonly string[]
}

/** Writes an answer as a careless model does: applies one to three kinds of damage of the noise corpus. */
function damagedText(value: Json, schema: JsonSchema, { random, kinds, words }: NoisyOptions): string {
  const damages = kinds === undefined ? DAMAGES : DAMAGES.filter(({ name }) => kinds.includes(name))
  const tokens = write(value, random.pick<Layout>(['compact', 'spaced', 'pretty']))
  const decoy = makeValue(schema, { seed: random.int(0, 2 ** 31), words })
  const sample: Sample = { schema, value, decoy, tokens, text: joinTokens(tokens) }
  if (random.chance(0.3)) {
    const stacked = stack(random, sample, damages)
    if (stacked) return stacked.outcome.text
  }
  for (let attempt = 0; attempt < 50; attempt++) {
    const damaged = random.pick(damages).apply(random, sample)
    if (damaged !== undefined && damaged.text !== sample.text) return damaged.text
  }
  return sample.text
}
