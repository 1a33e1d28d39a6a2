/** Rules that a pipeline itself switches off: `# proviso: ignore RULE` at a step, or `meta.suppress_rules` in it. */
import { matchesAny } from './glob.ts'
import { entryOf, type LintStep, type LintView, plainAt } from './lint-view.ts'
import type { YamlComment } from './scan-yaml.ts'
import { lineText, positionOf, type Source } from './source.ts'

/** A step's word holds for the steps inside it too. */
export function suppression(view: LintView): (rule: string, step: LintStep | undefined) => boolean {
  const said = new Map<LintStep, string[]>()
  for (const step of view.steps) said.set(step, inMeta(step))
  for (const comment of view.document.comments) {
    const rules = rulesOf(comment)
    const step = rules.length > 0 ? stepOf(view, comment) : undefined
    if (step) said.get(step)?.push(...rules)
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

/** The step that a comment stands in or, on a line of its own, above. */
function stepOf(
  { steps, document: { source } }: LintView,
  { span: [start] }: YamlComment,
): LintStep | undefined {
  const below = stepBelow(source, start)
  const above = steps.find(({ node }) => node.span[0] === below)
  if (above) return above
  const line = positionOf(source, start).line
  return steps.findLast(
    ({ node: { span } }) =>
      positionOf(source, span[0]).line <= line &&
      positionOf(source, Math.max(span[0], span[1] - 1)).line >= line,
  )
}

/** Where the first thing begins that stands below a comment; only for comments with nothing before them but a dash. */
function stepBelow(source: Source, start: number): number | undefined {
  const { line, column } = positionOf(source, start)
  if (!/^[\s-]*$/.test(lineText(source, line).slice(0, column - 1))) return undefined
  for (let at = line + 1; at <= source.lineStarts.length; at++) {
    const text = lineText(source, at)
    if (/^\s*(#|$)/.test(text)) continue
    const lead = /^\s*(-\s+)*(&\S+\s+)?/.exec(text)?.[0].length ?? 0
    return (source.lineStarts[at - 1] ?? 0) + lead
  }
  return undefined
}
