/** V-C2: a `sink_to` that is not a single member of the context, or that replaces a map there. */

import type { Edit } from '../../../base/errors/issue.ts'
import { wrongSink } from '../../parse/pipeline.ts'
import { setEntry } from '../../yaml/yaml-edits.ts'
import type { Rule } from '../rule.ts'
import { contextIndex, prefixes } from '../view/context-index.ts'
import { getSinkPath } from '../view/context-writes.ts'
import { findEntry, type LintStep, type LintView, perView } from '../view/lint-view.ts'
import { outputKind } from '../view/output-kind.ts'
import { getInitialContext } from '../view/step-schema.ts'

export const vC2: Rule<'V-C2'> = {
  id: 'V-C2',
  title: 'sink_to that is not one member of the context',
  severity: 'error',
  help: `\`sink_to\` names one member of the context, which becomes the output of the step. Here it names something else:

- a path such as \`scratchpad.draft\`: there are no maps inside the context to put it into, and \`{{ context.scratchpad.draft }}\` finds nothing;
- \`context\` or \`scratchpad\`, the place of all members: the context has no such root, and only one step could have it;
- a member that \`context:\` gives as a map, while the step yields a text, a list or a single value: a step that reads a member of that map finds it gone.

Give the output a member of its own: \`sink_to: draft\`, read as \`{{ context.draft }}\`.

The original project has import steps that map their outputs into its scratchpad, which this rule forbade there; pipelines here have no such maps, and \`sink_to\` is where the same mistake is made.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    sink_to: draft
  - name: judge
    agent: writer
    input: "Judge {{ context.draft }}"
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    sink_to: scratchpad.draft
  - name: judge
    agent: writer
    input: "Judge {{ context.scratchpad.draft }}"
`,
  *check(view) {
    for (const step of view.steps) {
      const entry = findEntry(step.node, 'sink_to')
      const why = entry && wrongWith(view, step)
      if (!entry || why === undefined) continue
      yield {
        range: step.node.alias ?? entry.value.alias ?? entry.value.range,
        step,
        message: why,
        hint: 'Name one member of its own, such as sink_to: draft',
      }
    }
  },
  /** Writes the output to a member of its own, and changes the templates that read it. */
  fixer: {
    stage: 'context',
    title: 'gives the output a member of its own',
    fix(view, { step }) {
      const key = step && getSinkPath(step)
      if (!step || key === undefined) return { cannot: 'it is about no step' }
      const index = contextIndex(view)
      // Steps that write the same member keep doing so: the last one wins.
      const writers = index.sinks.get(key) ?? []
      const [first = step] = writers
      if (first !== step && key.includes('.')) return { cannot: `it is fixed together with "${first.label}"` }
      const readers = index.readers.get(key) ?? []
      const cannot = hindrance(view, key, { writers, isRead: readers.length > 0 })
      if (cannot !== undefined) return { cannot }
      if ((index.mentions.get(key) ?? 0) !== readers.length)
        return { cannot: `context.${key} is also named outside of templates, or in an unusual way` }
      const name = freeMember(view, step, key)
      if (name === undefined) return { cannot: 'no name for the member is free; choose one' }
      const { source } = view.document
      const length = `context.${key}`.length
      return {
        edits: [
          ...writers.map(({ node }) => setEntry(source, node, { key: 'sink_to', value: name })),
          ...readers.map(({ start }): Edit => ({ span: [start, start + length], text: `context.${name}` })),
        ],
        alsoChanges: [...writers, ...readers.map((reader) => reader.step)].map(({ label }) => label),
      }
    },
  },
}

function wrongWith(view: LintView, step: LintStep): string | undefined {
  const key = getSinkPath(step)
  if (key === undefined) return undefined
  const isMap = !['text', 'array', 'scalar'].includes(outputKind(step))
  return wrongSink(key, { given: getInitialContext(view), isMap })
}

interface Sink {
  readonly writers: readonly LintStep[]
  readonly isRead: boolean
}

/** The reason why only the author can fix it. */
function hindrance(view: LintView, key: string, { writers, isRead }: Sink): string | undefined {
  if (!/^[\w-]+(\.[\w-]+)*$/.test(key)) return 'it is written in an unusual way'
  if (pathsAbove(view).has(key)) return `other steps write into "${key}"; fix those first`
  if (writers.length > 1 && !key.includes('.')) return `several steps write "${key}"; choose a name for each`
  if (writers.some(isShared)) return 'the step is shared through an alias'
  // When the file also gives the member, it is unknown whether readers mean that value or the output.
  if (Object.hasOwn(getInitialContext(view), key) && isRead)
    return `templates read context.${key}, which the file gives too`
  return undefined
}

/** Paths that are proper prefixes of other sink paths. */
const pathsAbove = perView(
  (view) => new Set([...contextIndex(view).sinks.keys()].flatMap((key) => prefixes(key).slice(0, -1))),
)

function isShared({ node }: LintStep): boolean {
  const entry = findEntry(node, 'sink_to')
  return (
    node.alias !== undefined ||
    entry?.merged === true ||
    entry?.value.alias !== undefined ||
    entry?.value.anchor !== undefined
  )
}

/** Returns the first free name of: the last part of the path, the path joined by underscores, the name of the step. */
function freeMember(view: LintView, step: LintStep, key: string): string | undefined {
  const context = getInitialContext(view)
  const { writers } = contextIndex(view)
  const isTaken = (name: string) =>
    Object.hasOwn(context, name) || [...(writers.get(name) ?? [])].some((sink) => sink !== key)
  const parts = key.split('.')
  const wanted = parts.length > 1 ? [parts.at(-1) ?? '', parts.join('_')] : []
  return [...wanted, step.label, `${step.label}_output`].find(
    (name) => /^[A-Za-z_]\w*$/.test(name) && !isTaken(name) && name !== 'context' && name !== 'scratchpad',
  )
}
