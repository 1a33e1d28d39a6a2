/** V-A4: parameters that the worker of the step does not accept. */
import { closest } from '../../../base/closest.ts'
import { own } from '../../../base/json.ts'
import { builtinParams } from '../../parse/pipeline.ts'
import type { Rule, RuleFinding } from '../rule.ts'
import { entryOf, type LintStep, textAt } from '../view/lint-view.ts'
import { builtinName, schemaOf } from '../view/output-kind.ts'

export const vA4: Rule<'V-A4'> = {
  id: 'V-A4',
  title: 'Parameters that the step does not take',
  severity: 'error',
  help: `\`params\` are for built-ins and for capabilities of your own. The step gives a built-in a parameter that it does not have, or \`extract_from_text\` no schema to go by: the pipeline is not run. Or it gives parameters to an agent or to an imported pipeline, which get their \`input\` and nothing else: that is a warning, because nothing reads them.

${Object.entries(builtinParams)
  .map(([name, names]) => `- \`${name}\`: ${names.map((each) => `\`${each}\``).join(', ')}`)
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

function* ofStep(step: LintStep): Iterable<RuleFinding> {
  const params = entryOf(step.node, 'params')
  const names = own(builtinParams, builtinName(step) ?? '') as readonly string[] | undefined
  const given = params?.value.kind === 'map' ? params.value.entries : []
  if (names === undefined) {
    const worker = step.agent
      ? 'an agent'
      : textAt(step.node, 'uses')?.startsWith('imports.')
        ? 'an import'
        : ''
    if (!params || worker === '') return
    yield {
      range: rangeOf(step, 'params'),
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
      range: merged ? rangeOf(step, 'params') : keyRange,
      step,
      message: `${builtinName(step)} has no parameter "${key}"`,
      hint: meant === undefined ? `It takes ${names.join(', ')}` : `Did you mean ${meant}?`,
    }
  }
  if (builtinName(step) !== 'extract_from_text') return
  if (schemaOf(step) || given.some(({ key }) => key === 'schema')) return
  yield {
    range: rangeOf(step, 'uses'),
    step,
    message: 'extract_from_text needs the schema of what is to be extracted',
    hint: 'Write params: { schema: { type: object, … } }',
  }
}

function rangeOf({ node }: LintStep, key: string) {
  const entry = entryOf(node, key)
  return entry && !entry.merged && !node.alias ? entry.keyRange : (node.alias ?? node.range)
}
