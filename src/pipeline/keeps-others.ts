/** Whether a fix leaves everything alone that it is not about: text that several steps share through an anchor changes them all. */
import { canonicalJson } from '../base/canonical.ts'
import type { Json } from '../base/json.ts'
import { type LintStep, lintView, nestingKeys } from './lint-view.ts'
import type { YamlDocument } from './read-yaml.ts'
import { plainValue, type YamlNode } from './yaml-node.ts'

/** `about` are the labels of the steps that were mended; the steps right behind them may change with them. */
export function keepsOthers(
  before: YamlDocument,
  after: YamlDocument,
  about: ReadonlySet<string | undefined>,
): boolean {
  if (besideSteps(before.root) !== besideSteps(after.root)) return false
  const there = new Map<string, number>()
  for (const step of lintView(after).steps) {
    const own = ownValue(step)
    there.set(own, (there.get(own) ?? 0) + 1)
  }
  return lintView(before)
    .steps.filter((step) => !about.has(step.label) && !about.has(step.sequence[step.index - 1]?.label))
    .every((step) => {
      const own = ownValue(step)
      const count = there.get(own) ?? 0
      there.set(own, count - 1)
      return count > 0
    })
}

/** Without the steps inside it, which are looked at by themselves. */
function ownValue({ node }: LintStep): string {
  return without(node, nestingKeys)
}

function besideSteps(root: YamlNode): string {
  return without(root, ['steps'])
}

function without(node: YamlNode, keys: readonly string[]): string {
  if (node.kind !== 'map') return ''
  const kept = node.entries.filter(({ key }) => !keys.includes(key))
  return canonicalJson(Object.fromEntries(kept.map(({ key, value }) => [key, plainValue(value)])) as Json)
}
