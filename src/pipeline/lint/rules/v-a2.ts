/** V-A2: a step whose input has the wrong kind of value. */
import { child } from '../../../base/pointer.ts'
import { project } from '../../../schema/build/project.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { getValueLookup } from '../../../schema/values/schema-values.ts'
import { isAbsent } from '../../../schema/values/value-set.ts'
import { asTemplate, expressionsIn, parseTemplate } from '../../templates/templates.ts'
import type { YamlEntry } from '../../yaml/yaml-tree.ts'
import type { Rule, RuleFinding } from '../rule.ts'
import { findEntry, type LintStep, type LintView, plainAt } from '../view/lint-view.ts'
import { classifyOutput } from '../view/output-kind.ts'
import { referred } from '../view/step-schema.ts'

export const vA2: Rule<'V-A2'> = {
  id: 'V-A2',
  title: 'A value of the wrong kind for the step',
  severity: 'error',
  help: `What the step is given by an earlier one cannot be what it takes, by the schemas of the file:

- a \`map\` goes over a list, and \`iterable_input\` is a text, an object or a number;
- a \`conditional\` takes the branch that its \`condition_expression\` names, and the value is an object or a list, which names none (a warning where there is a \`default_branch\`).

Name the member that is meant, or give the step before another schema. Agents and built-ins take values of every kind; V-I5 checks what imported pipelines take, V-T5 checks members that do not exist.

The original project compares the declared types of functions; here schemas are what is known of values, and these two kinds of steps are the ones that take no other.`,
  good: `version: "0.1"
agents:
  lister:
    model: openai/gpt-4o-mini
    system_prompt: Name teas.
    output_schema: { type: array, items: { type: string } }
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: list
    agent: lister
    processing: { structured_output: auto }
  - kind: map
    name: each
    map:
      iterable_input: "{{ previous_step }}"
      max_items: 5
      body: [{ name: write, agent: writer, input: "Write about {{ item }}" }]
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: list
    agent: writer
  - kind: map
    name: each
    map:
      iterable_input: "{{ previous_step }}"
      max_items: 5
      body: [{ name: write, agent: writer, input: "Write about {{ item }}" }]
`,
  *check(view) {
    for (const step of view.steps) {
      if (step.kind === 'map') yield* overList(view, step)
      else if (step.kind === 'conditional') yield* namesBranch(view, step)
    }
  },
}

function* overList(view: LintView, step: LintStep): Iterable<RuleFinding> {
  const entry = findEntry(findEntry(step.node, 'map')?.value, 'iterable_input')
  const given = entry && givenBy(view, step, entry)
  if (!entry || !given || mayBeList(given)) return
  yield {
    range: entry.value.alias ?? entry.value.range,
    step,
    message: `"${step.label}" goes over ${given.whose}, which is no list`,
    hint: 'A map goes over a list: name the member that is one, or give what comes before a list schema',
  }
}

function mayBeList({ schema, path }: Given): boolean {
  if (isAbsent(getValueLookup(schema)([...path, '0']))) return false
  // An open object may have a member "0", but is not a list.
  return ['array', 'unknown'].includes(classifyOutput(project(schema, path.reduce<string>(child, '')).schema))
}

function* namesBranch(view: LintView, step: LintStep): Iterable<RuleFinding> {
  const entry = findEntry(step.node, 'condition_expression')
  const given = entry && givenBy(view, step, entry)
  if (!entry || !given || given.path.length > 0) return
  const kind = typeof given.schema === 'object' ? classifyOutput(given.schema) : 'unknown'
  if (kind !== 'object' && kind !== 'array') return
  yield {
    range: entry.value.alias ?? entry.value.range,
    step,
    ...(plainAt(step.node, 'default_branch') !== undefined && { severity: 'warning' as const }),
    message: `${given.whose} is ${kind === 'array' ? 'a list' : 'an object'}, which names no branch of "${step.label}"`,
    hint: 'Name the member whose value is the name of a branch',
  }
}

interface Given {
  readonly schema: JsonSchema
  readonly path: readonly string[]
  readonly whose: string
}

/** The value that the text of an entry renders to, where it is known. */
function givenBy(view: LintView, step: LintStep, { value: node }: YamlEntry): Given | undefined {
  if (node.kind !== 'scalar' || typeof node.value !== 'string') return undefined
  const text = step.kind === 'map' ? asTemplate(node.value) : node.value
  const parsed = parseTemplate(text)
  const [expression, ...others] = expressionsIn(text)
  if (!parsed.ok || !expression) return undefined
  // With text around it, the expression renders to a string, whatever its type.
  if (others.length > 0 || parsed.parts.length > 1)
    return { schema: { type: 'string' }, path: [], whose: 'a text' }
  if (expression.filters.length > 0 || expression.path === undefined) return undefined
  return referred(view, step, expression.path)
}
