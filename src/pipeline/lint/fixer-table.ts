/**
 * Every fixer, in the order of application: edits of text, then fixers that insert steps, then fixers that
 * add keys to steps.
 */
import { fixA5 } from './fixers/v-a5.ts'
import { fixA8 } from './fixers/v-a8.ts'
import { fixC1 } from './fixers/v-c1.ts'
import { fixC2 } from './fixers/v-c2.ts'
import { fixT1 } from './fixers/v-t1.ts'
import { fixT3 } from './fixers/v-t3.ts'
import type { Fixer } from './rule.ts'

export const fixerTable: readonly Fixer[] = [fixT1, fixT3, fixC2, fixC1, fixA5, fixA8]
