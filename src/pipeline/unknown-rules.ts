/** What a file wants to switch off and is no rule: a slip of the pen would leave the rule on, and nobody would know why. */
import { closest } from '../base/closest.ts'
import { matches } from './glob.ts'
import type { LintView } from './lint-view.ts'
import type { RuleFinding } from './rule.ts'
import { ruleTable } from './rule-table.ts'
import { elsewhereNamed } from './rules-elsewhere.ts'
import { type NamedRule, namedInComment, namedInMeta } from './suppress.ts'

export const unknownRuleCode = 'lint/unknown-rule'

/** A rule of the original project that nothing here can break is worth a note only. */
export function unknownRules(view: LintView): RuleFinding[] {
  const { root, comments } = view.document
  const named = [
    ...namedInMeta(root),
    ...view.steps.flatMap(({ node }) => namedInMeta(node)),
    ...comments.flatMap((comment) => namedInComment(comment).filter(isMeant)),
  ]
  const found = named.filter(({ rule }) => !ruleTable.some(({ id }) => matches(id, rule)))
  // A step that is reached through an alias stands in the file once.
  return [...new Map(found.map((one) => [one.span[0], findingOf(one)])).values()]
}

const ids = ruleTable.map(({ id }) => id)
const families: ReadonlySet<string> = new Set(ids.map(familyOf))

/** The first word is meant as a rule, whatever it looks like; behind it may stand why, and rules look like rules. */
function isMeant({ rule }: NamedRule, index: number): boolean {
  return index === 0 || (/[-*]/.test(rule) && families.has(familyOf(rule)))
}

function familyOf(rule: string): string {
  return rule.split(/[-*]/)[0]?.toUpperCase() ?? ''
}

function findingOf({ rule, span }: NamedRule): RuleFinding {
  if (elsewhereNamed(rule))
    return {
      span,
      message: `${rule} is no rule here, so that nothing is switched off`,
      hint: `\`proviso validate --explain ${rule}\` says what one gets instead`,
      severity: 'note',
    }
  const meant = closest(rule, ids)
  return {
    span,
    message: `no rule is called ${rule}, so that nothing is switched off`,
    hint: meant === undefined ? `Rules: ${ids.join(', ')}` : `Did you mean ${meant}?`,
  }
}
