/** V-A4: parameters that the worker of the step does not accept. */
import { closest } from '../../../base/closest.ts'
import { builtins, isBuiltinName } from '../../parse/builtins.ts'
import type { Rule, RuleFinding } from '../rule.ts'
import { findEntry, type LintStep, textAt } from '../view/lint-view.ts'
import { builtinName, findSchemaNode } from '../view/output-kind.ts'

export const vA4: Rule<'V-A4'> = {
  id: 'V-A4',
  title: 'Parameters that the step does not take',
  severity: 'error',
  help: `\`params\` are for built-ins and for capabilities of your own. The step gives a built-in a parameter that it does not have, or \`extract_from_text\` no schema to go by: the pipeline is not run. Or it gives parameters to an agent or to an imported pipeline, which get their \`input\` and nothing else: that is a warning, because nothing reads them.

${Object.entries(builtins)
  .map(([name, { params }]) => `- \`${name}\`: ${listNames(params)}`)
  .join('\n')}

What your own capability takes is in its contract, which is checked when the pipeline is compiled.

In the original project the rule is about functions whose signature cannot be read. Functions have no signatures here, but contracts; what is left is whether a call fits.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
  - name: keep
    uses: wrap_dict
    params: { key: text }
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
  - name: keep
    uses: wrap_dict
    params: { kye: text }
`,
  *check({ steps }) {
    for (const step of steps) if (step.kind === 'step') yield* ofStep(step)
  },
}

function listNames(params: object): string {
  const names = Object.keys(params).map((each) => `\`${each}\``)
  return names.length === 0 ? 'none' : names.join(', ')
}

function* ofStep(step: LintStep): Iterable<RuleFinding> {
  const params = findEntry(step.node, 'params')
  const builtin = builtinName(step) ?? ''
  const names = isBuiltinName(builtin) ? Object.keys(builtins[builtin].params) : undefined
  const given = params?.value.kind === 'map' ? params.value.entries : []
  if (names === undefined) {
    const worker = step.agent
      ? 'an agent'
      : textAt(step.node, 'uses')?.startsWith('imports.')
        ? 'an import'
        : ''
    if (!params || worker === '') return
    yield {
      range: getRange(step, 'params'),
      step,
      severity: 'warning',
      message: `nothing reads the parameters of "${step.label}": ${worker} gets its input and nothing else`,
      hint: 'Put them into its input',
    }
    return
  }
  for (const { key, keyRange, merged } of given) {
    if (names.includes(key)) continue
    const meant = closest(key, names)
    yield {
      range: merged ? getRange(step, 'params') : keyRange,
      step,
      message: `${builtin} has no parameter "${key}"`,
      hint: meant === undefined ? `It takes ${names.join(', ') || 'none'}` : `Did you mean ${meant}?`,
    }
  }
  if (builtin !== 'extract_from_text') return
  if (findSchemaNode(step) || given.some(({ key }) => key === 'schema')) return
  yield {
    range: getRange(step, 'uses'),
    step,
    message: 'extract_from_text needs the schema of what is to be extracted',
    hint: 'Write params: { schema: { type: object, … } }',
  }
}

function getRange({ node }: LintStep, key: string) {
  const entry = findEntry(node, key)
  return entry && !entry.merged && !node.alias ? entry.keyRange : (node.alias ?? node.range)
}
