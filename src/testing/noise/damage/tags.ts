/** Damage by tags, special tokens and reasoning blocks, whose drafts are not the answer. */
import type { Damage } from '../types.ts'
import { around, decoyText, isDocument, isText } from './outcome.ts'

const SPECIAL = [
  '<|im_end|>',
  '</s>',
  '<|endoftext|>',
  '<|eot_id|>',
  '<end_of_turn>',
  '<｜end▁of▁sentence｜>',
]
const REASONING = ['think', 'thinking', 'reasoning', 'reflection', 'scratchpad']

function embed(family: 'tag' | 'reasoning', name: string, apply: Damage['apply']): Damage {
  return {
    name,
    family,
    slot: 'embed',
    ...(family === 'reasoning' ? { decoy: true as const } : {}),
    apply(random, sample) {
      if (isText(sample)) return undefined
      // A tag inside a string would make the end of the block ambiguous.
      if (family === 'reasoning' && (/think>/.test(sample.text) || !isDocument(sample))) return undefined
      return apply(random, sample)
    },
  }
}

export const TAGS: readonly Damage[] = [
  embed('tag', 'tag-answer', (r, s) => {
    const tag = r.pick(['answer', 'json', 'output', 'result', 'response', 'final_answer'])
    const gap = r.pick(['', '\n'])
    return around(s, `<${tag}>${gap}`, `${gap}</${tag}>`)
  }),
  embed('tag', 'tag-prose', (r, s) => {
    if (!isDocument(s)) return undefined
    const tag = r.pick(['answer', 'json', 'output'])
    return around(s, `I'll answer inside the tags.\n<${tag}>`, `</${tag}>\nDone.`)
  }),
  embed('tag', 'tag-fence', (_, s) => around(s, '<answer>\n```json\n', '\n```\n</answer>')),
  embed('tag', 'tag-unclosed', (r, s) => around(s, `<${r.pick(['answer', 'json', 'output'])}>\n`, '')),
  embed('tag', 'tag-tool-call', (r, s) => {
    if (!isDocument(s)) return undefined
    return r.chance()
      ? around(s, '<tool_call>\n', '\n</tool_call>')
      : around(s, '<function=submit>', '</function>')
  }),
  embed('tag', 'token-end', (r, s) => around(s, '', `${r.pick(['', '\n'])}${r.pick(SPECIAL)}`)),
  embed('tag', 'token-start', (r, s) =>
    around(s, r.pick(['<s>', '<|assistant|>\n', '<|im_start|>assistant\n', '[/INST] ']), ''),
  ),
  embed('tag', 'token-role', (r, s) =>
    isDocument(s)
      ? around(s, '', `<|im_end|>\n<|im_start|>user\n${r.pick(['Thanks!', 'Is that all?'])}`)
      : undefined,
  ),
  embed('reasoning', 'reasoning-closed', (r, s) => {
    const tag = r.pick(REASONING)
    return around(
      s,
      `<${tag}>\nLet's see, a first draft:\n${decoyText(r, s)}\nNo, that isn't right.\n</${tag}>\n\n`,
      '',
    )
  }),
  embed('reasoning', 'reasoning-closed-fence', (r, s) =>
    around(s, `<think>\nMaybe \`\`\`json\n${decoyText(r, s)}\n\`\`\` ?\n</think>\n\n\`\`\`json\n`, '\n```'),
  ),
  embed('reasoning', 'reasoning-stray-close', (r, s) =>
    around(
      s,
      `Okay, the user wants JSON. Perhaps ${decoyText(r, s)}? I'd rather check again.\n</think>\n\n`,
      '',
    ),
  ),
  embed('reasoning', 'reasoning-unclosed', (r, s) =>
    around(
      s,
      `<${r.pick(['think', 'thinking'])}>\nThe text isn't long. I'll extract the fields now.\n\n`,
      '',
    ),
  ),
  embed('reasoning', 'reasoning-after', (r, s) =>
    around(s, '', `\n\n<reflection>\nAnother option was ${decoyText(r, s)}.\n</reflection>`),
  ),
  embed('reasoning', 'reasoning-harmony', (r, s) =>
    around(
      s,
      `<|channel|>analysis<|message|>Draft: ${decoyText(r, s)} needs work.<|end|><|start|>assistant<|channel|>final<|message|>`,
      r.pick(['<|return|>', '']),
    ),
  ),
  embed('reasoning', 'reasoning-two', (r, s) =>
    around(s, `<think>${decoyText(r, s)}</think>\n<think>Still unsure, isn't it?</think>\n`, ''),
  ),
]
