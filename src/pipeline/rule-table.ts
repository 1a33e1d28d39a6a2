/** Every rule of the linter, in the order of its reports' explanations. */
import type { Rule } from './rule.ts'
import { vA5 } from './rules/v-a5.ts'
import { vA8 } from './rules/v-a8.ts'
import { vC1 } from './rules/v-c1.ts'
import { vT1 } from './rules/v-t1.ts'
import { vT3 } from './rules/v-t3.ts'

export const ruleTable: readonly Rule[] = [vA5, vA8, vC1, vT1, vT3]

export function ruleNamed(id: string): Rule | undefined {
  return ruleTable.find((rule) => rule.id.toUpperCase() === id.toUpperCase())
}
