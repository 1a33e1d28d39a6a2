/** What ends a value that is still open, outside of its strings: the fence around it closes, or the reasoning that it stands in. */
import * as ch from './chars.ts'
import { MORE } from './lookahead.ts'
import { AFTER_KEY, type Machine, OBJECT, VALUE } from './machine.ts'

const THOUGHT_NAMES =
  'think|thinking|thought|thoughts|reasoning|reason|reflection|scratchpad|analysis|monologue|inner_monologue'
/** The end of a reasoning block. */
export const THOUGHT_END = new RegExp(
  `</(?:${THOUGHT_NAMES})>|\\[/THINK\\]|◁/think▷|<\\|end\\|>|<\\|channel\\|>`,
  'gi',
)
export const THOUGHT_START = new RegExp(`<(?:${THOUGHT_NAMES})>`, 'i')
const TAG = new RegExp(`<(/?)(?:${THOUGHT_NAMES})>|<\\|end\\|>|<\\|channel\\|>`, 'iy')
/** Longer than every tag that is looked for. */
const LONGEST_TAG = 24

/** Whether the token at `d.i` ends every open value; MORE when a stream must deliver more to tell. */
export function endsAll(d: Machine, c: number): 'fence' | 'thought' | typeof MORE | undefined {
  if (d.stack.length === 0 || d.stack[0]?.implicit) return undefined
  if (c === ch.LESS) return endsThought(d)
  return d.fence === undefined || d.fence.charCodeAt(0) !== c ? undefined : endsFence(d, d.fence)
}

function endsThought(d: Machine): 'thought' | typeof MORE | undefined {
  TAG.lastIndex = d.i
  const tag = TAG.exec(d.buf)
  if (tag === null) {
    if (d.final || d.buf.length - d.i >= LONGEST_TAG) return undefined
    return d.buf.indexOf('>', d.i) < 0 ? MORE : undefined
  }
  // Reasoning that begins inside the value ends there too.
  if (tag[1] === '') d.thoughts++
  else if (d.thoughts > 0) d.thoughts--
  else return 'thought'
  return undefined
}

/** A line with nothing but the mark of the fence, where no value is due: a fence may be a value itself. */
function endsFence(d: Machine, mark: string): 'fence' | typeof MORE | undefined {
  const frame = d.top
  if (frame?.kind === OBJECT && (frame.state === VALUE || frame.state === AFTER_KEY)) return undefined
  const { buf } = d
  for (let i = d.i - 1; i >= 0 && buf.charCodeAt(i) !== ch.LF; i--)
    if (!ch.isSpace(buf.charCodeAt(i))) return undefined
  let end = d.i
  while (buf[end] === mark[0]) end++
  if (end < buf.length && end - d.i < mark.length) return undefined
  while (buf.charCodeAt(end) === ch.SPACE || buf.charCodeAt(end) === ch.CR || buf.charCodeAt(end) === ch.TAB)
    end++
  if (end >= buf.length) return d.final ? 'fence' : MORE
  return buf.charCodeAt(end) === ch.LF ? 'fence' : undefined
}
