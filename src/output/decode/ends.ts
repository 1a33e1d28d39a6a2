/** Detects what ends an open value outside of its strings: the end of the fence or of the reasoning block around it. */
import * as ch from './chars.ts'
import { MORE, type Window } from './lookahead.ts'
import { AFTER_KEY, type Machine, OBJECT, VALUE } from './machine.ts'

/** Tag names of reasoning blocks. */
export const THOUGHT_NAMES =
  'think|thinking|thought|thoughts|reasoning|reason|reflection|scratchpad|analysis|monologue|inner_monologue'
/** Closing tags of reasoning blocks. */
export const THOUGHT_TAG_END = `</(?:${THOUGHT_NAMES})>|\\[/THINK\\]|◁/think▷`
/** The end of a reasoning block; chat tokens end one too. */
export const THOUGHT_END = new RegExp(`${THOUGHT_TAG_END}|<\\|end\\|>|<\\|channel\\|>`, 'gi')

/** Cheap test before `THOUGHT_END`: whether the beginning of one of its tags occurs. */
export function mayEndThought(text: string): boolean {
  return text.includes('</') || text.includes('<|') || text.includes('[/') || text.includes('◁')
}

export const THOUGHT_START = new RegExp(`<(?:${THOUGHT_NAMES})>|\\[THINK\\]|◁think▷`, 'i')
const TAG = new RegExp(`<(/?)(?:${THOUGHT_NAMES})>|<\\|end\\|>|<\\|channel\\|>`, 'iy')

/** Where a reasoning block ends that began before this text; undefined if none does. */
export function findThoughtEnd(text: string): number | undefined {
  THOUGHT_END.lastIndex = 0
  const end = THOUGHT_END.exec(text)?.index
  return end === undefined || THOUGHT_START.test(text.slice(0, end)) ? undefined : end
}

/** Upper bound on the length of these tags. */
export const LONGEST_TAG = 24

/** Whether the token at `d.i` ends every open value; MORE when a stream must deliver more text to decide. */
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
  // Reasoning that begins inside the value must also end there.
  if (tag[1] === '') d.thoughts++
  else if (d.thoughts > 0) d.thoughts--
  else return 'thought'
  return undefined
}

/** Matches a line with only the fence marker, where no value is due: a fence may itself be a value. */
function endsFence(d: Machine, mark: string): 'fence' | typeof MORE | undefined {
  const frame = d.top
  const isDue = frame?.kind === OBJECT && (frame.state === VALUE || frame.state === AFTER_KEY)
  if (isDue && d.final) return undefined
  const { buf } = d
  for (let i = d.i - 1; i >= 0 && buf.charCodeAt(i) !== ch.LF; i--)
    if (!ch.isSpace(buf.charCodeAt(i))) return undefined
  const line = fenceLine(d, d.i, mark)
  if (line === MORE) return MORE
  if (line !== 'close') return undefined
  if (!isDue) return 'fence'
  d.crossed = true
  return MORE
}

/** Upper bound on the length of a fence label. */
const LONGEST_LABEL = 40

/**
 * Classifies the line at `from`, ignoring leading spaces: the fence marker alone closes the fence, the marker with a
 * label opens another; MORE when a stream must deliver the rest of the line.
 */
export function fenceLine(
  w: Pick<Window, 'buf' | 'final'>,
  from: number,
  mark: string,
): 'close' | 'open' | 'other' | typeof MORE {
  const { buf } = w
  let start = from
  while (isBlank(buf.charCodeAt(start))) start++
  let end = start
  while (buf[end] === mark[0]) end++
  if (end < buf.length && end - start < mark.length) return 'other'
  const label = end
  while (end < label + LONGEST_LABEL && ch.isNameChar(buf.charCodeAt(end))) end++
  const isLabelled = end > label
  while (isBlank(buf.charCodeAt(end))) end++
  if (end >= buf.length && !w.final) return MORE
  if (label - start < mark.length || (end < buf.length && buf.charCodeAt(end) !== ch.LF)) return 'other'
  return isLabelled ? 'open' : 'close'
}

function isBlank(c: number): boolean {
  return c === ch.SPACE || c === ch.TAB || c === ch.CR
}
