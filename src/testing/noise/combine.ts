/** Combines two or three kinds of damage in a fixed order: the value, its syntax, then the text around it. */
import type { Random } from './random.ts'
import type { Damage, Outcome, Sample, Slot } from './types.ts'

const ORDER: readonly Slot[] = ['value', 'quotes', 'structure', 'character', 'embed']

/** Pairs whose text is ambiguous. */
const UNCLEAR: readonly (readonly [string, string])[] = [
  // Without quotes, only commas and colons mark the end of a value.
  ['values-bare', 'comma-missing'],
  ['values-bare', 'comma-missing-line'],
  ['values-bare', 'colon-missing'],
  ['keys-bare', 'colon-missing'],
  ['keys-bare', 'comma-missing'],
  ['date-bare', 'comma-missing'],
  ['date-bare', 'colon-missing'],
  ['values-bare', 'comment-hash'],
  ['values-bare', 'comment-line'],
  ['values-bare', 'comment-block'],
  ['date-bare', 'comment-line'],
  ['date-bare', 'comment-hash'],
  ['date-bare', 'comment-block'],
  ['values-bare', 'closer-missing-end'],
  ['date-bare', 'closer-missing-end'],
  // A bare number would absorb the characters that follow it.
  ['number-separators-bare', 'comma-missing'],
  ['number-separators-bare', 'comma-missing-line'],
  ['number-separators-bare', 'comma-doubled'],
  ['number-separators-bare', 'comma-trailing'],
  ['number-separators-bare', 'full-width-punctuation'],
  ['number-separators-bare', 'ellipsis-list'],
  ['number-separators-bare', 'ellipsis-object'],
  ['number-sum', 'comma-missing'],
  ['number-plus', 'comma-missing'],
  ['number-plus', 'comma-missing-line'],
  ['concatenated', 'comma-missing'],
  ['python-tuple', 'wrapper-call'],
  // The reader decodes at most two layers of strings by default.
  ['field-encoded-object', 'encoded-thrice'],
  ['field-encoded-list', 'encoded-thrice'],
  ['field-python-list', 'encoded-thrice'],
]

interface Stacked {
  readonly outcome: Outcome
  readonly kinds: readonly string[]
}

export function stack(random: Random, sample: Sample, damages: readonly Damage[]): Stacked | undefined {
  const slots = new Set(random.some(ORDER, random.int(2, 3)))
  let now = sample
  let outcome: Outcome | undefined
  const applied: Damage[] = []
  for (const slot of ORDER.filter((one) => slots.has(one))) {
    const options = damages.filter((damage) => damage.slot === slot && agrees(damage, applied))
    for (let attempt = 0; attempt < 6 && options.length > 0; attempt++) {
      const damage = random.pick(options)
      const next = damage.apply(random, now)
      if (next === undefined || next.text === now.text) continue
      outcome = merge(outcome, next)
      now = advance(now, next)
      applied.push(damage)
      break
    }
  }
  if (outcome === undefined || applied.length < 2) return undefined
  return { outcome, kinds: applied.map((damage) => damage.name) }
}

function agrees(damage: Damage, applied: readonly Damage[]): boolean {
  const syntax = (one: Damage): boolean => one.slot !== 'embed' && one.slot !== 'character'
  if (damage.alone && applied.some((one) => syntax(one) || one.alone)) return false
  if (applied.some((one) => one.alone) && (syntax(damage) || damage.family === 'several')) return false
  // Items are rewritten one by one, which would undo earlier damage to the list.
  if (damage.family === 'several' && applied.length > 0) return false
  if (
    applied.some((one) => one.family === 'lost') &&
    (damage.decoy || !['prose', 'fence', 'tag'].includes(damage.family))
  ) {
    return false
  }
  return !applied.some((one) =>
    UNCLEAR.some(([a, b]) => (one.name === a && damage.name === b) || (one.name === b && damage.name === a)),
  )
}

/** Keeps the information loss of an earlier damage. */
function merge(before: Outcome | undefined, next: Outcome): Outcome {
  if (before !== undefined && 'lost' in before && 'expected' in next) {
    const { expected: _, ...rest } = next
    return { ...rest, lost: true, allowed: before.allowed }
  }
  return next
}

function advance(sample: Sample, outcome: Outcome): Sample {
  const { tokens: _tokens, open: _open, ...rest } = sample
  return {
    ...rest,
    value: 'expected' in outcome ? outcome.expected : sample.value,
    text: outcome.text,
    ...(outcome.tokens ? { tokens: outcome.tokens } : {}),
    ...(outcome.open ? { open: outcome.open } : {}),
  }
}
