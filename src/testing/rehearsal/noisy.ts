/** An answer as a careless model writes it: the damage of the noise generator, one to three kinds on top of each other. */
import type { Json } from '../../base/json.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { stack } from '../noise/combine.ts'
import { DAMAGES } from '../noise/damages.ts'
import type { Random } from '../noise/random.ts'
import { type Layout, textOf, write } from '../noise/tokens.ts'
import type { Sample } from '../noise/types.ts'
import { makeValue } from './make-value.ts'

export interface NoisyOptions {
  readonly random: Random
  readonly kinds: readonly string[] | undefined
  readonly words: readonly string[]
}

export function damagedText(value: Json, schema: JsonSchema, { random, kinds, words }: NoisyOptions): string {
  const damages = kinds === undefined ? DAMAGES : DAMAGES.filter(({ name }) => kinds.includes(name))
  const tokens = write(value, random.pick<Layout>(['compact', 'spaced', 'pretty']))
  const decoy = makeValue(schema, { seed: random.int(0, 2 ** 31), words })
  const sample: Sample = { schema, value, decoy, tokens, text: textOf(tokens) }
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
