/** Damage by repetition: the schema or format echoed, an example, a first attempt that is corrected. */
import type { Damage, Sample } from '../types.ts'
import { around, decoyText, isDocument } from './outcome.ts'

function echo(name: string, apply: Damage['apply'], decoy = true): Damage {
  return {
    name,
    family: 'echo',
    slot: 'embed',
    ...(decoy ? { decoy: true as const } : {}),
    apply: (random, sample) => (isDocument(sample) ? apply(random, sample) : undefined),
  }
}

/** Writes a format specification as prompts do: the keys with the names of their types. */
function formatSpec(sample: Sample): string {
  const first = Array.isArray(sample.value) ? sample.value[0] : sample.value
  const lines = Object.keys(first as object).map((key) => `  "${key}": <${key.toLowerCase()}>`)
  const body = `{\n${lines.join(',\n')}\n}`
  return Array.isArray(sample.value) ? `[${body}, ...]` : body
}

export const ECHOES: readonly Damage[] = [
  echo('echo-schema-before', (r, s) => {
    const schema = JSON.stringify(s.schema, null, 2)
    const shown = r.chance() ? `\`\`\`json\n${schema}\n\`\`\`` : schema
    return around(s, `The schema is:\n${shown}\n\nThe answer:\n`, '')
  }),
  echo('echo-schema-after', (_, s) =>
    around(s, '', `\n\nThis follows the schema ${JSON.stringify(s.schema)}`),
  ),
  echo('echo-format', (r, s) =>
    around(
      s,
      `Format:\n${formatSpec(s)}\n\n${r.pick(['Answer:\n', 'Filled in:\n```json\n'])}`,
      r.pick(['', '\n']),
    ),
  ),
  echo('example-before', (r, s) =>
    around(
      s,
      `${r.pick(['For example: ', 'An example of the format:\n', 'Example output:\n'])}${decoyText(r, s)}\n\n${r.pick(
        ['Final answer:\n', 'The final answer for this text is:\n'],
      )}`,
      '',
    ),
  ),
  echo('example-before-uncued', (r, s) =>
    around(s, `For example, another text would give ${decoyText(r, s)}\n\nFor this text:\n`, ''),
  ),
  echo('example-after', (r, s) =>
    around(s, '', `\n\nFor example, another text would give:\n${decoyText(r, s)}`),
  ),
  echo('apology', (r, s) =>
    around(
      s,
      `${decoyText(r, s)}\n\n${r.pick([
        'Sorry, that is wrong. Actually, the corrected version is:\n',
        "Apologies, I've made a mistake. Corrected:\n",
        'Wait, actually:\n',
      ])}`,
      '',
    ),
  ),
  echo('apology-fenced', (r, s) =>
    around(
      s,
      `\`\`\`json\n${decoyText(r, s)}\n\`\`\`\n\nSorry, I misread the text. Here is the corrected answer:\n\n\`\`\`json\n`,
      '\n```',
    ),
  ),
  echo('restarted', (r, s) => {
    const draft = decoyText(r, s)
    // Cut inside the first third and at a letter, so that the first attempt cannot be mistaken for an answer.
    const cut = Math.max(2, Math.floor(draft.length / 3))
    if (Array.isArray(s.value)) return undefined
    return around(
      s,
      `${draft.slice(0, cut)}\n\nSorry, I was cut off. Here is the corrected, complete answer:\n\n`,
      '',
    )
  }),
]
