/** Rules of the original project that no pipeline can break here: what they checked, and what is reported instead. */

export interface UnneededRule {
  readonly id: string
  readonly title: string
  /** Code of the issue that is reported instead; absent where the situation cannot occur. */
  readonly instead?: string
  /** Why there is no such rule, in Markdown. */
  readonly help: string
  /** A pipeline that shows the situation. */
  readonly example: string
  /** Files that it imports, by path; the example itself is `example.yaml`. */
  readonly beside?: Readonly<Record<string, string>>
}

const step = `steps:
  - name: title
    uses: imports.title
`
const title = `steps: [{ name: keep, uses: wrap_dict }]
`

export const unneededRules: readonly UnneededRule[] = [
  {
    id: 'V-I1',
    title: 'An import that is not there',
    instead: 'import/failed',
    help: `Imports are read with the file that names them. One that is not there, or cannot be read, is an error at its line and ends the check with 5; it cannot be switched off, because there is nothing to run.`,
    example: `imports: { title: nowhere.yaml }\n${step}`,
  },
  {
    id: 'V-I2',
    title: 'Outputs of an import that are mapped to an unknown place',
    instead: 'pipeline/additionalProperties',
    help: `Imports have no map of outputs: an imported pipeline has one answer, which is the output of its step, and goes into the context by \`sink_to\` or \`updates_context\` like every other. A key \`outputs\` is refused where the file is read. What can go wrong with \`sink_to\` is said by V-C2.`,
    example: `imports: { title: title.yaml }\n${step}    outputs: [{ child: title, parent: scratchpad }]\n`,
    beside: { 'title.yaml': title },
  },
  {
    id: 'V-I3',
    title: 'Imports that go round in a circle',
    instead: 'import/circle',
    help: `Circles are found when imports are read, and shown with all files on the way. So are imports that go more than 8 deep.`,
    example: `imports: { title: title.yaml }\n${step}`,
    beside: { 'title.yaml': `imports: { title: example.yaml }\n${step}` },
  },
  {
    id: 'V-I6',
    title: 'A conversation that an import does not inherit',
    instead: 'pipeline/additionalProperties',
    help: `Steps have no conversation that could be inherited or lost: a model sees its prompt and the input of its step, and an imported pipeline sees its input and nothing else. A key \`inherit_conversation\` is refused where the file is read. Pass what is needed in the \`input\` of the step.`,
    example: `imports: { title: title.yaml }\n${step}    inherit_conversation: false\n`,
    beside: { 'title.yaml': title },
  },
  {
    id: 'V-EX1',
    title: 'A function that swallows the exceptions by which runs are paused',
    help: `Exceptions do not pause, stop or redirect a run: a question to a person is a node of the plan, and pausing is an event in the journal. A function of your own that catches everything catches its own errors and nothing else; one that throws has failed, and is tried again, or asked about, as its step says.`,
    example: `steps:
  - name: fetch
    uses: shop.fetch
  - kind: hitl
    name: approve
    message: "Is this right?"
`,
  },
]

export function findUnneededRule(id: string): UnneededRule | undefined {
  return unneededRules.find((rule) => rule.id.toUpperCase() === id.toUpperCase())
}

/** Renders the page of such a rule, for `--explain` and `docs/rules`. */
export function renderUnneededRule({ id, title, instead, help, example }: UnneededRule): string {
  return `# ${id}: ${title}

${instead === undefined ? 'This is no rule here: what it is about cannot come about.' : `This is no rule here: one gets the error \`${instead}\` instead.`}

${help}

## Example

\`\`\`yaml
${example}\`\`\`
`
}
