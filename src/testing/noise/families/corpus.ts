/** The corpus of families: seeded texts, every family equally often. */

import type { Json } from '../../../base/json.ts'
import { compileSchema, type JsonSchema } from '../../../schema/compile/compile.ts'
import { makeSample, type NoiseSample } from '../corpus.ts'
import { createRandom, mixSeed, type Random } from '../random.ts'
import { NOISE_SCHEMAS } from '../schemas.ts'
import { rootForm } from '../shape.ts'
import { joinTokens, type Token } from '../tokens.ts'
import type { NoiseFamily, NoiseSchema, Passage } from '../types.ts'
import { CALL_FAMILIES } from './calls.ts'
import { DOCUMENT_FAMILIES } from './document-families.ts'
import { LISTS } from './lists.ts'
import { REASONING } from './reasoning.ts'

// Open lists, objects and strings in a closed fence with prose after it: the fence ends the open values.

const BEHIND = [
  'Hope this helps!',
  "That's the list, isn't it?",
  'Let me know if you need "more" items, or fewer.',
  'Note: the list is sorted, see [1].',
  '- one\n- two',
  '希望对你有帮助！',
]

/** Removes the last closing brackets; the closed fence replaces them. */
function withoutClosers(random: Random, tokens: readonly Token[]): readonly Token[] | undefined {
  let closers = 0
  for (let i = tokens.length - 1; tokens[i]?.kind === 'close' || tokens[i]?.kind === 'space'; i--)
    if (tokens[i]?.kind === 'close') closers++
  const dropped = random.int(1, closers)
  let rest = tokens.length
  for (let left = dropped; left > 0; ) if (tokens[--rest]?.kind === 'close') left--
  const kept = tokens.slice(0, rest)
  while (kept.at(-1)?.kind === 'space') kept.pop()
  return kept.length < 2 || kept.at(-1)?.kind === 'open' ? undefined : kept
}

/** Removes the quote and half of the characters of the last string; `acceptTruncated` keeps the rest. */
function withCutString(tokens: readonly Token[], value: Json): { text: string; value: Json } | undefined {
  const last = tokens.findLastIndex((token) => token.kind === 'string')
  const token = tokens[last]
  const behind = tokens.slice(last + 1).every(({ kind }) => kind === 'close' || kind === 'space')
  if (token === undefined || !behind || !/^"[\p{L}\p{N} ]{2,}"$/u.test(token.text)) return undefined
  const cut = token.text.slice(1, Math.max(2, Math.floor(token.text.length / 2))).trimEnd()
  const path = token.at.split('/').slice(1)
  return {
    text: `${joinTokens(tokens.slice(0, last))}"${cut}`,
    value: replaced(value, path, cut),
  }
}

/** Returns `undefined` if the cut value is invalid, such as half of an enum value: then the answer is lost. */
function validOrLost(schema: JsonSchema, value: Json): Json | undefined {
  return compileSchema(schema).accepts(value) ? value : undefined
}

function replaced(value: Json, [head, ...rest]: readonly string[], cut: string): Json {
  if (head === undefined) return cut
  if (Array.isArray(value))
    return value.map((item, index) =>
      String(index) === head ? replaced(item as Json, rest, cut) : item,
    ) as Json
  const members = Object.entries(value as Record<string, Json>)
  return Object.fromEntries(
    members.map(([key, item]) => [key, key === head ? replaced(item, rest, cut) : item]),
  )
}

/** Writes a fence with at most an opening bracket; not for a schema that accepts an empty value. */
function emptyFence(random: Random, source: NoiseSchema, decoy: Json): Passage | undefined {
  const { name: schemaName, schema } = source
  const empty = rootForm(schema, decoy) === 'list' ? '[' : '{'
  if (compileSchema(schema).accepts(empty === '[' ? [] : {})) return undefined
  const text = `\`\`\`json\n${random.pick(['', empty])}\n\`\`\`\n${random.pick(BEHIND)}`
  return { schemaName, schema, value: undefined, decoy, text, single: false, kinds: ['empty'], encoded: 0 }
}

const FENCED: NoiseFamily = {
  name: 'open value in a closed fence, prose behind',
  make(random): Passage | undefined {
    const source = random.pick(NOISE_SCHEMAS)
    const sample = makeSample(random, source)
    const tokens = sample.tokens ?? []
    const form = rootForm(source.schema, sample.value)
    // A fence inside a string could be the closing one: the text would be ambiguous.
    if (form === 'text' || form === 'scalar' || sample.text.includes('```')) return undefined
    if (random.chance(0.12)) return emptyFence(random, source, sample.decoy)
    const accepted = random.chance()
    const cut = accepted && random.chance(0.7) ? withCutString(tokens, sample.value) : undefined
    const kept = cut === undefined ? withoutClosers(random, tokens) : undefined
    if (cut === undefined && kept === undefined) return undefined
    const document = cut?.text ?? `${joinTokens(kept ?? [])}${random.chance(0.2) ? ',' : ''}`
    const before = random.pick(['', 'Here it is:\n\n', 'As requested (see above):\n'])
    return {
      schemaName: source.name,
      schema: source.schema,
      value: cut === undefined ? sample.value : validOrLost(source.schema, cut.value),
      decoy: sample.decoy,
      text: `${before}\`\`\`${random.pick(['json', ''])}\n${document}\n\`\`\`\n${random.pick(BEHIND)}`,
      single: false,
      kinds: [cut === undefined ? 'open' : 'cut-string'],
      encoded: 0,
      ...(accepted ? { options: { acceptTruncated: true } } : {}),
    }
  },
}

export const NOISE_FAMILIES: readonly NoiseFamily[] = [
  ...DOCUMENT_FAMILIES,
  ...CALL_FAMILIES,
  FENCED,
  LISTS,
  REASONING,
]

export interface FamilyOptions {
  readonly seed: number
  /** Number of texts of each family. */
  readonly count: number
}

/** Each sample depends only on the seed, its family and its index. */
export function* familyCorpus({ seed, count }: FamilyOptions): Generator<NoiseSample> {
  for (const [familyIndex, family] of NOISE_FAMILIES.entries())
    for (let index = 0; index < count; index++) yield getSample(family, mixSeed(seed, familyIndex), index)
}

function getSample(family: NoiseFamily, seed: number, index: number): NoiseSample {
  const random = createRandom(mixSeed(seed, index))
  for (let attempt = 0; attempt < 4000; attempt++) {
    const passage = family.make(random)
    if (passage !== undefined) return finish(`${family.name}/${index}`, family, passage)
  }
  throw new Error(`Cannot draw a text of the family "${family.name}" (sample ${index})`)
}

function finish(id: string, family: NoiseFamily, passage: Passage): NoiseSample {
  return {
    id,
    family: family.name,
    schemaName: passage.schemaName,
    schema: passage.schema,
    text: passage.text,
    kinds: passage.kinds,
    outcome: passage.value === undefined ? { lost: true, allowed: [] } : { expected: passage.value },
    ...(passage.options ? { options: passage.options } : {}),
  }
}
