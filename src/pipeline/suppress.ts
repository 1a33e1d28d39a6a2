/** Rules that a pipeline itself switches off: `# proviso: ignore RULE` at a step, or `meta.suppress_rules` in it. */
import { matchesAny } from './glob.ts'
import { entryOf, type LintStep, type LintView, plainAt } from './lint-view.ts'
import type { YamlComment } from './scan-yaml.ts'
import { lineText, positionOf, type Source } from './source.ts'

/** A step's word holds for the steps inside it too. */
export function suppression(view: LintView): (rule: string, step: LintStep | undefined) => boolean {
  const said = new Map<LintStep, string[]>()
  for (const step of view.steps) said.set(step, inMeta(step))
  const comments = view.document.comments.filter((comment) => rulesOf(comment).length > 0)
  const stepOf = comments.length > 0 ? stepFinder(view) : () => undefined
  for (const comment of comments) {
    const step = stepOf(comment)
    if (step) said.get(step)?.push(...rulesOf(comment))
  }
  return (rule, step) => {
    for (let at = step; at; at = at.parent) if (matchesAny(rule, said.get(at) ?? [])) return true
    return false
  }
}

function inMeta({ node }: LintStep): string[] {
  const rules = plainAt(entryOf(node, 'meta')?.value, 'suppress_rules')
  return (Array.isArray(rules) ? rules : [rules]).filter((rule) => typeof rule === 'string')
}

function rulesOf({ text }: YamlComment): string[] {
  const [, rules = ''] = /^#\s*proviso:\s*ignore\s+([\w*,\s-]+)/.exec(text) ?? []
  return rules.split(/[\s,]+/).filter(Boolean)
}

/** Finds the step that a comment stands in or, on a line of its own, above. */
function stepFinder({
  steps,
  document: { source },
}: LintView): (comment: YamlComment) => LintStep | undefined {
  const starts = new Map(steps.map((step) => [step.node.span[0], step]))
  const below = firstBelow(source)
  const onLine: (LintStep | undefined)[] = []
  // Steps inside others come after them and win.
  for (const step of steps) {
    const { span } = step.node
    const last = positionOf(source, Math.max(span[0], span[1] - 1)).line
    for (let line = positionOf(source, span[0]).line; line <= last; line++) onLine[line] = step
  }
  return ({ span: [start] }) => {
    const { line, column } = positionOf(source, start)
    const isAlone = /^[\s-]*$/.test(lineText(source, line).slice(0, column - 1))
    return (isAlone ? starts.get(below[line + 1] ?? -1) : undefined) ?? onLine[line]
  }
}

/** For each line, from 1, where the first thing begins that stands on it or below: past dashes and anchors. */
function firstBelow(source: Source): readonly (number | undefined)[] {
  const found: (number | undefined)[] = []
  for (let line = source.lineStarts.length; line >= 1; line--) {
    const text = lineText(source, line)
    const lead = /^\s*(-\s+)*(&\S+\s+)?/.exec(text)?.[0].length ?? 0
    found[line] = /^\s*(#|$)/.test(text) ? found[line + 1] : (source.lineStarts[line - 1] ?? 0) + lead
  }
  return found
}
