/** What an agent sends back: bytes of a stranger, counted as they come, then read like any text against the node's contract. */
import { createParser } from 'eventsource-parser'
import { isObject, type Json, own } from '../../base/json.ts'
import type { AttemptResult, Outcome } from '../../domain/output.ts'
import { readQuestion } from '../../domain/question.ts'
import { detectJson } from '../../output/index.ts'
import { ended, usage } from './http-ends.ts'
import { type AnsweredCall, readAnswer } from './read-answer.ts'

/** A response as it arrives. */
export interface Arriving {
  readonly type: string
  readonly encoding: string
  readonly body: AsyncIterable<Uint8Array>
}

export interface ReadLimits {
  readonly maxBytes: number
  /** Every piece of the answer's own text, as it comes. */
  readonly onText?: ((piece: string) => void) | undefined
}

export type Arrived = { readonly text: string } | { readonly end: AttemptResult }

/**
 * The text of an answer. Plain bodies are their text; of server-sent events it is what the data of all events together
 * say, until `[DONE]` or the end; an event called `error` ends it.
 */
export async function readArriving({ type, encoding, body }: Arriving, limits: ReadLimits): Promise<Arrived> {
  if (encoding !== '' && encoding !== 'identity')
    return unusable(`The agent packed its answer (${encoding})`, 'Answer without Content-Encoding')
  const decoder = new TextDecoder()
  const events = /^text\/event-stream\b/i.test(type) ? eventText(limits.onText) : undefined
  let bytes = 0
  let text = ''
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > limits.maxBytes)
      return unusable(`The agent's answer is longer than ${limits.maxBytes} bytes`, 'Answer with less')
    const piece = decoder.decode(chunk, { stream: true })
    if (events === undefined) {
      text += piece
      limits.onText?.(piece)
      continue
    }
    events.feed(piece)
    if (events.failed !== undefined)
      return { end: ended({ outcome: 'provider_error' }, `The agent said: ${events.failed.slice(0, 300)}`) }
    if (events.done) break
  }
  return { text: events === undefined ? text + decoder.decode() : events.text }
}

function eventText(onText: ReadLimits['onText']) {
  const state = { text: '', done: false, failed: undefined as string | undefined }
  const parser = createParser({
    onEvent({ event, data }) {
      if (state.done) return
      if (event === 'error') state.failed ??= data
      else if (data === '[DONE]') state.done = true
      else {
        state.text += data
        onText?.(data)
      }
    },
  })
  return Object.assign(state, { feed: (piece: string) => parser.feed(piece) })
}

/** It is an answer, only none that can be used: asking the same again would bring the same. */
function unusable(message: string, hint: string): Arrived {
  const issue = { code: 'answer/limit', at: { pointer: '' }, message, hint }
  return { end: { outcome: 'invalid', issues: [issue], usage } }
}

/** Ends that an agent may name when it calls back. */
const namedEnds: ReadonlySet<string> = new Set<Outcome>([
  'refused',
  'timed_out',
  'throttled',
  'unavailable',
  'provider_error',
])

/** What an agent has to be told first, as it says so at once or when it calls back. It has done nothing yet. */
export function readAsked(given: Json): AttemptResult {
  const { question: text, schema } = isObject(given) ? given : {}
  const question = readQuestion({ text, ...(schema !== undefined && { schema }) })
  if (typeof question === 'string') return ended({ outcome: 'invalid' }, `The agent asks, but ${question}`)
  return { outcome: 'unclear', question, issues: [], usage, notApplied: true }
}

/** The body of a response that asks. */
export function readAskedText(text: string): AttemptResult {
  const read = detectJson(text)
  return readAsked(read.isParsed ? (read.value as Json) : null)
}

/** A posted answer: `{ output }`, `{ text }`, `{ question, schema? }`, or `{ error: { message, outcome?, notApplied? } }`. */
export function readPosted(posted: Json, call: AnsweredCall): AttemptResult {
  const given = isObject(posted) ? posted : {}
  const text = own(given, 'text')
  if (Object.hasOwn(given, 'output')) return readAnswer(JSON.stringify(given['output']), call, usage)
  if (typeof text === 'string') return readAnswer(text, call, usage)
  if (Object.hasOwn(given, 'question')) return readAsked(posted)
  const error = own(given, 'error')
  if (!isObject(error))
    return ended({ outcome: 'invalid' }, 'The agent called back without output, text, question or error')
  const outcome = own(error, 'outcome')
  return ended(
    {
      outcome: namedEnds.has(String(outcome)) ? (outcome as Outcome) : 'provider_error',
      ...(own(error, 'notApplied') === true && { notApplied: true }),
    },
    `The agent said: ${String(own(error, 'message') ?? 'it failed').slice(0, 300)}`,
  )
}
