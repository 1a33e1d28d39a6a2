/** Damage that destroys information: the right answer is a refusal, or a value that the policy allows; never a guess. */
import { isObject, type Json } from '../../../base/json.ts'
import { expectsType, replaceAt, rootForm, type Site } from '../shape.ts'
import { isScalar, joinTokens, nextSolid, retext, type Token } from '../tokens.ts'
import type { Damage, Outcome, Sample } from '../types.ts'
import { findIndexes, isDocument, isText, listSites, lost, pickOrNot, rewritten } from './outcome.ts'

function loss(name: string, apply: Damage['apply']): Damage {
  return {
    name,
    family: 'lost',
    slot: 'structure',
    alone: true,
    apply: (random, sample) =>
      isText(sample) || sample.tokens?.some((token) => token.touched) ? undefined : apply(random, sample),
  }
}

/** Replaces one required value with something unrelated. */
function emptied(
  name: string,
  fits: (site: Site) => boolean,
  text: (site: Site) => string | undefined,
): Damage {
  return loss(name, (random, sample): Outcome | undefined => {
    const { tokens } = sample
    if (tokens === undefined || !isDocument(sample)) return undefined
    const options = listSites(sample)
      .filter((site) => site.required && site.declared && !site.types.has('null') && fits(site))
      .flatMap((site) => {
        const index = tokens.findIndex(
          (token) => token.at === site.at && ['string', 'number', 'literal'].includes(token.kind),
        )
        const next = text(site)
        return index < 0 || next === undefined ? [] : [{ index, next }]
      })
    const chosen = pickOrNot(random, options)
    return chosen && lost(joinTokens(retext(tokens, chosen.index, chosen.next)))
  })
}

const isNumeric = (site: Site): boolean => expectsType(site, 'integer', 'number')
const isNumberOrFlag = (site: Site): boolean => expectsType(site, 'integer', 'number', 'boolean')

function truncate(
  name: string,
  fits: (token: Token, tokens: readonly Token[], index: number) => number | undefined,
): Damage {
  return loss(name, (random, sample: Sample) => {
    const { tokens } = sample
    if (tokens === undefined || !isDocument(sample)) return undefined
    const cuts = tokens.flatMap((token, index) => {
      const kept = fits(token, tokens, index)
      return kept === undefined || index < 2 ? [] : [{ index, kept }]
    })
    const cut = pickOrNot(random, cuts)
    if (cut === undefined) return undefined
    const text = joinTokens(tokens.slice(0, cut.index)) + tokens[cut.index]!.text.slice(0, cut.kept)
    const allowed = closedValues(
      tokens.slice(0, cut.index + (cut.kept >= tokens[cut.index]!.text.length ? 1 : 0)),
    )
    return { text, lost: true, allowed, open: true }
  })
}

export const LOSSES: readonly Damage[] = [
  truncate('cut-in-string', (token) =>
    token.kind === 'string' && token.text.length > 4 && !token.text.includes('\\')
      ? Math.ceil(token.text.length / 2)
      : undefined,
  ),
  truncate('cut-in-key', (token) => (token.kind === 'key' && token.text.length > 3 ? 2 : undefined)),
  truncate('cut-in-literal', (token) => (token.kind === 'literal' ? 2 : undefined)),
  truncate('cut-after-colon', (token) => (token.kind === 'colon' ? 1 : undefined)),
  truncate('cut-after-comma', (token, tokens, index) =>
    token.kind === 'comma' && tokens[nextSolid(tokens, index)]?.kind !== 'number' ? 1 : undefined,
  ),
  loss('required-missing', (random, sample) => {
    if (!isDocument(sample)) return undefined
    const site = pickOrNot(
      random,
      listSites(sample).filter((one) => one.required && one.declared && !one.contested),
    )
    // A list or a single member could be the content of an unknown wrapper: the root must stay recognizable.
    if (site === undefined) return undefined
    const rest = replaceAt(sample.value, site.at, undefined)
    if (isObject(rest) && Object.keys(rest).length === 0) return undefined
    return lost(joinTokens(rewritten(sample, rest)))
  }),
  emptied(
    'null-for-required',
    () => true,
    () => 'null',
  ),
  emptied('blank-for-number', isNumeric, () => '""'),
  emptied('words-for-number', isNumberOrFlag, () => '"N/A"'),
  emptied('nan-for-number', isNumeric, () => 'NaN'),
  emptied(
    'undefined-for-required',
    () => true,
    () => 'undefined',
  ),
  emptied(
    'fraction-for-integer',
    (site) => expectsType(site, 'integer') && typeof site.value === 'number',
    (site) => String(Number(site.value) + 0.5),
  ),
  emptied('boolean-for-number', isNumeric, () => 'true'),
  emptied(
    'yes-for-boolean',
    (site) => expectsType(site, 'boolean'),
    () => '"yes"',
  ),
  emptied(
    'unknown-enum',
    (site) => Array.isArray(site.schema['enum']),
    () => '"something else"',
  ),
  emptied(
    'out-of-bounds',
    (site) => isNumeric(site) && typeof site.schema['maximum'] === 'number',
    (site) => String(Number(site.schema['maximum']) * 10 + 7),
  ),
  emptied(
    'no-value',
    () => true,
    () => '',
  ),
  emptied(
    'enum-tie',
    (site) => site.value === 'us-east' || site.value === 'us_east',
    () => '"US East"',
  ),
  emptied(
    'big-integer-refused',
    (site) => expectsType(site, 'integer'),
    () => '9007199254740993123',
  ),
  loss('only-refusal', (random, sample) =>
    isDocument(sample)
      ? lost(
          random.pick([
            "I'm sorry, but I can't help with that.",
            'I could not find any data [1].',
            'Is there anything else? {',
            '申し訳ありませんが、できません。',
          ]),
        )
      : undefined,
  ),
  loss('empty', (random, sample) =>
    rootForm(sample.schema, sample.value) === 'text'
      ? undefined
      : lost(random.pick(['', ' ', '\n\n', '```json\n```'])),
  ),
  loss('only-schema', (_, sample) =>
    rootForm(sample.schema, sample.value) === 'object' && isDocument(sample)
      ? lost(JSON.stringify(sample.schema))
      : undefined,
  ),
]

/** Integers outside the range of a double: their digits are kept as a string where the schema allows one. */
export const BIG_INTEGERS: readonly Damage[] = [
  {
    name: 'big-integer-kept',
    family: 'number',
    slot: 'value',
    alone: true,
    apply(random, sample) {
      const { tokens } = sample
      if (tokens === undefined) return undefined
      const wide = new Set(
        listSites(sample)
          .filter((site) => site.types.has('integer') && site.types.has('string'))
          .map((site) => site.at),
      )
      const index = pickOrNot(
        random,
        findIndexes(tokens, (token) => token.kind === 'number' && wide.has(token.at)),
      )
      if (index === undefined) return undefined
      const digits = `9007199254${random.int(100000000, 999999999)}1`
      const expected: Json = replaceAt(sample.value, tokens[index]!.at, digits)
      const changed = retext(tokens, index, digits)
      return { text: joinTokens(changed), tokens: changed, expected }
    },
  },
]

/**
 * Returns the values that may be read from tokens whose end is missing: with the containers that had just been opened,
 * and without them. A key without its value is dropped in both.
 */
function closedValues(tokens: readonly Token[]): Json[] {
  const values: Json[] = []
  for (const keepEmpty of [true, false]) {
    const value = close(tokens, keepEmpty)
    if (value !== undefined) values.push(value)
  }
  return values
}

interface Frame {
  readonly list: boolean
  readonly items: Json[]
  readonly members: [string, Json][]
  key?: string
}

function close(tokens: readonly Token[], keepEmpty: boolean): Json | undefined {
  const stack: Frame[] = []
  let root: Json | undefined
  const put = (value: Json): void => {
    const top = stack.at(-1)
    if (top === undefined) root = value
    else if (top.list) top.items.push(value)
    else {
      top.members.push([top.key ?? '', value])
      delete top.key
    }
  }
  const finish = (frame: Frame): Json => (frame.list ? frame.items : Object.fromEntries(frame.members))
  for (const token of tokens) {
    if (token.kind === 'open') stack.push({ list: token.text === '[', items: [], members: [] })
    else if (token.kind === 'key') stack.at(-1)!.key = String(token.value)
    else if (isScalar(token)) put(token.value as Json)
    else if (token.kind === 'close') put(finish(stack.pop()!))
  }
  while (stack.length > 0) {
    const frame = stack.pop()!
    if (!keepEmpty && frame.items.length === 0 && frame.members.length === 0) {
      delete stack.at(-1)?.key
      continue
    }
    put(finish(frame))
  }
  return root
}
