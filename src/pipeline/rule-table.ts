/** Every rule of the linter, in the order in which they are listed. */
import type { Rule } from './rule.ts'
import { template001 } from './rules/template-001.ts'
import { vA1 } from './rules/v-a1.ts'
import { vA5 } from './rules/v-a5.ts'
import { vA6 } from './rules/v-a6.ts'
import { vA7 } from './rules/v-a7.ts'
import { vA8 } from './rules/v-a8.ts'
import { vC1 } from './rules/v-c1.ts'
import { vC3 } from './rules/v-c3.ts'
import { vF1 } from './rules/v-f1.ts'
import { vL1 } from './rules/v-l1.ts'
import { vP1 } from './rules/v-p1.ts'
import { vS1 } from './rules/v-s1.ts'
import { vS3 } from './rules/v-s3.ts'
import { vT1 } from './rules/v-t1.ts'
import { vT2 } from './rules/v-t2.ts'
import { vT3 } from './rules/v-t3.ts'
import { vT4 } from './rules/v-t4.ts'

export const ruleTable: readonly Rule[] = [
  ...[vA1, vA5, vA6, vA7, vA8],
  ...[vC1, vC3, vF1, vL1, vP1, vS1, vS3],
  ...[vT1, vT2, vT3, vT4, template001],
]

export function ruleNamed(id: string): Rule | undefined {
  return ruleTable.find((rule) => rule.id.toUpperCase() === id.toUpperCase())
}
