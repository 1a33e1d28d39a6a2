/** Damage by code fences: labelled, unlabelled, mislabelled, unclosed, nested, inline, with other code before. */
import { rootForm } from '../shape.ts'
import type { Damage, Sample } from '../types.ts'
import { around, isDocument, isText } from './outcome.ts'

function fence(name: string, apply: Damage['apply']): Damage {
  return {
    name,
    family: 'fence',
    slot: 'embed',
    apply: (random, sample) => (isText(sample) ? undefined : apply(random, sample)),
  }
}

/** A fence inside the document would end the one around it for a reader that only checks lines. */
const hasRawFence = (sample: Sample): boolean => /^\s*(```|~~~)/m.test(sample.text)

export const FENCES: readonly Damage[] = [
  fence('fence-json', (r, s) => around(s, r.pick(['```json\n', '```JSON\n', '``` json\n']), '\n```')),
  fence('fence-bare', (_, s) => around(s, '```\n', '\n```')),
  fence('fence-mislabelled', (r, s) =>
    around(s, `\`\`\`${r.pick(['python', 'javascript', 'text', 'yaml', 'jsonc'])}\n`, '\n```\n'),
  ),
  fence('fence-unclosed', (_, s) => around(s, '```json\n', '')),
  fence('fence-only-closed', (_, s) => (isDocument(s) ? around(s, '', '\n```') : undefined)),
  fence('fence-tilde', (_, s) => around(s, '~~~json\n', '\n~~~')),
  fence('fence-four', (_, s) => around(s, '````json\n', '\n````')),
  fence('fence-same-line', (_, s) => (hasRawFence(s) ? undefined : around(s, '```json ', ' ```'))),
  fence('fence-indented', (_, s) => around(s, '  ```json\n  ', '\n  ```\n')),
  fence('fence-prose', (r, s) =>
    isDocument(s)
      ? around(
          s,
          r.pick(["Here's what I found:\n\n```json\n", 'Result (see [1]):\n```\n', '结果如下：\n```json\n']),
          r.pick(['\n```\n\nLet me know!', "\n```\nThat's it.", '\n```\n\n[1]: https://example.com']),
        )
      : undefined,
  ),
  fence('fence-nested', (_, s) =>
    hasRawFence(s) ? undefined : around(s, '````markdown\n## Answer\n\n```json\n', '\n```\n````'),
  ),
  fence('fence-inline', (r, s) => {
    if (s.text.includes('`') || !isDocument(s)) return undefined
    return around(s, r.pick(['`', 'The answer is `', 'Result: `']), r.pick(['`', '`.']))
  }),
  fence('fence-after-code', (r, s) => {
    if (rootForm(s.schema, s.value) === 'scalar' || !isDocument(s)) return undefined
    const code = r.pick([
      '```python\ndata = {"tmp": [0]}\nprint(f"{data}")\n```',
      '```bash\ncurl -d \'{"probe": true}\' https://example.com\n```',
      '```js\nconst x = { y: [0, 1] }\n```',
    ])
    return around(s, `First I ran this:\n\n${code}\n\nIt gave:\n\n\`\`\`json\n`, '\n```')
  }),
]
