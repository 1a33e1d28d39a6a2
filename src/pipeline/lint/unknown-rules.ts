/** Reports suppressions that name no rule: a typo would otherwise silently leave the rule on. */
import { closest } from '../../base/closest.ts'
import { matches } from './glob.ts'
import type { RuleFinding } from './rule.ts'
import { ruleTable } from './rule-table.ts'
import { findUnneededRule } from './rules-not-needed.ts'
import { type NamedRule, namedInComment, namedInMeta } from './suppress.ts'
import type { LintView } from './view/lint-view.ts'

export const unknownRuleCode = 'lint/unknown-rule'

/** Rules of the original project that cannot be broken here are reported as notes only. */
export function unknownRules(view: LintView): RuleFinding[] {
  const { root, comments } = view.document
  const named = [
    ...namedInMeta(root),
    ...view.steps.flatMap(({ node }) => namedInMeta(node)),
    ...comments.flatMap((comment) => namedInComment(comment).filter(isMeant)),
  ]
  const found = named.filter(({ rule }) => !ruleTable.some(({ id }) => matches(id, rule)))
  // A step reached through several aliases is in the file once.
  return [...new Map(found.map((one) => [one.range[0], findingOf(one)])).values()]
}

const ids = ruleTable.map(({ id }) => id)
const families: ReadonlySet<string> = new Set(ids.map(familyOf))

/**
 * The first word is always taken as a rule; the following words may be a reason, so only words that look like
 * rules count.
 */
function isMeant({ rule }: NamedRule, index: number): boolean {
  return index === 0 || (/[-*]/.test(rule) && families.has(familyOf(rule)))
}

function familyOf(rule: string): string {
  return rule.split(/[-*]/)[0]?.toUpperCase() ?? ''
}

function findingOf({ rule, range }: NamedRule): RuleFinding {
  if (findUnneededRule(rule))
    return {
      range,
      message: `${rule} is no rule here, so that nothing is switched off`,
      hint: `\`proviso validate --explain ${rule}\` says what one gets instead`,
      severity: 'note',
    }
  const meant = closest(rule, ids)
  return {
    range,
    message: `no rule is called ${rule}, so that nothing is switched off`,
    hint: meant === undefined ? `Rules: ${ids.join(', ')}` : `Did you mean ${meant}?`,
  }
}
