/** Every lint rule, in the order in which they are listed. */
import { type Fixer, fixStages, type Rule } from './rule.ts'
import { hitlNested001 } from './rules/hitl-nested-001.ts'
import { loop001 } from './rules/loop-001.ts'
import { template001 } from './rules/template-001.ts'
import { vA1 } from './rules/v-a1.ts'
import { vA2 } from './rules/v-a2.ts'
import { vA2Strict } from './rules/v-a2-strict.ts'
import { vA2Type } from './rules/v-a2-type.ts'
import { vA3 } from './rules/v-a3.ts'
import { vA4 } from './rules/v-a4.ts'
import { vA5 } from './rules/v-a5.ts'
import { vA6 } from './rules/v-a6.ts'
import { vA7 } from './rules/v-a7.ts'
import { vA8 } from './rules/v-a8.ts'
import { vC1 } from './rules/v-c1.ts'
import { vC2 } from './rules/v-c2.ts'
import { vC3 } from './rules/v-c3.ts'
import { vCF1 } from './rules/v-cf1.ts'
import { vCtx1 } from './rules/v-ctx1.ts'
import { vF1 } from './rules/v-f1.ts'
import { vI4 } from './rules/v-i4.ts'
import { vI5 } from './rules/v-i5.ts'
import { vL1 } from './rules/v-l1.ts'
import { vP1 } from './rules/v-p1.ts'
import { vP2 } from './rules/v-p2.ts'
import { vP3 } from './rules/v-p3.ts'
import { vS1 } from './rules/v-s1.ts'
import { vS2 } from './rules/v-s2.ts'
import { vS3 } from './rules/v-s3.ts'
import { vSM1 } from './rules/v-sm1.ts'
import { vT1 } from './rules/v-t1.ts'
import { vT2 } from './rules/v-t2.ts'
import { vT3 } from './rules/v-t3.ts'
import { vT4 } from './rules/v-t4.ts'
import { vT5 } from './rules/v-t5.ts'
import { vT6 } from './rules/v-t6.ts'

const rules = [
  ...[vA1, vA2, vA2Strict, vA2Type, vA3, vA4, vA5, vA6, vA7, vA8],
  ...[vC1, vC2, vC3, vCF1, vCtx1, vF1, vI4, vI5, vL1, vP1, vP2, vP3],
  ...[vS1, vS2, vS3, vSM1, vT1, vT2, vT3, vT4, vT5, vT6],
  ...[template001, loop001, hitlNested001],
] as const

/** Id of a lint rule. */
export type RuleId = (typeof rules)[number]['id']

export const ruleTable: readonly Rule<RuleId>[] = rules

export function ruleNamed(id: string): Rule | undefined {
  return ruleTable.find((rule) => rule.id.toUpperCase() === id.toUpperCase())
}

type FixableRule = Rule<RuleId> & { readonly fixer: Fixer }

/** The rules that carry a fixer, in the order in which their fixes are applied. */
export const fixableRules: readonly FixableRule[] = fixStages.flatMap((stage) =>
  ruleTable.filter((rule): rule is FixableRule => rule.fixer?.stage === stage),
)
