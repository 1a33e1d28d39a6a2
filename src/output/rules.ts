/**
 * The repair rules: one row per rule, with its stage, the tolerance level it requires, and its cost when candidates are
 * ranked. The texts for people are in `rule-table.ts`.
 */
import type { Stage } from './types.ts'

export interface RuleEffect {
  readonly stage: Stage
  /** 0: deterministic repair, allowed from `minimal`. 1: JSON5. 2: guided repair. */
  readonly level: 0 | 1 | 2
  readonly cost: number
}

function rows<Name extends string>(
  stage: Stage,
  level: RuleEffect['level'],
  costs: Readonly<Record<Name, number>>,
): Record<Name, RuleEffect> {
  const made = {} as Record<Name, RuleEffect>
  for (const name in costs) made[name] = { stage, level, cost: costs[name] }
  return made
}

export const rules = {
  // Finding the value.
  ...rows('extract', 0, {
    surroundings: 0,
    'text-is-value': 2,
    reasoning: 1,
    collect: 3,
    unescape: 2,
    fence: 1,
  }),
  // Deterministic repair.
  ...rows('syntactic', 0, {
    comment: 1,
    'trailing-comma': 1,
    'missing-closer': 2,
    truncated: 2,
    'extra-closer': 2,
    'wrong-closer': 2,
    'single-quotes': 1,
    'bare-key': 1,
    literal: 1,
    'odd-space': 1,
    'raw-control': 1,
    'duplicate-key': 2,
    'big-number': 1,
  }),
  // JSON5.
  ...rows('tolerant', 1, {
    number: 1,
    escape: 1,
    'full-width': 1,
  }),
  // Guided repair.
  ...rows('syntactic', 2, {
    'not-a-number': 1,
    'missing-comma': 2,
    'missing-colon': 2,
    'missing-quote': 2,
    'missing-opener': 3,
    'missing-value': 4,
    'cut-string': 4,
    'inner-quote': 2,
    'doubled-quotes': 2,
    'escaped-quotes': 2,
    'bare-value': 2,
    concatenation: 2,
    ellipsis: 2,
    'stray-text': 4,
    'stray-value': 20,
  }),
  ...rows('extract', 2, {
    rewrite: 4,
  }),
  ...rows('syntactic', 2, {
    tuple: 1,
    call: 2,
    'named-call': 2,
    'key-lines': 6,
  }),
  // Conversions toward the schema.
  ...rows('semantic', 0, {
    'str->int': 1,
    'str->float': 1,
    'str->bool': 1,
    'str->null': 1,
    'str->array': 2,
    'str->object': 2,
    'num->str': 1,
    'num->bool': 1,
    'word->bool': 1,
    'json->str': 6,
    wrap: 3,
    unwrap: 2,
    enum: 1,
    key: 1,
    'drop-key': 2,
    'null-absent': 1,
    lift: 4,
    enclose: 5,
    'drop-item': 5,
    default: 1,
  }),
}

export type RuleName = keyof typeof rules
