/**
 * Reads answers into the result of an attempt, with the reader that model answers use. An agent's response is untrusted:
 * bytes are counted as they arrive, and the text is parsed against the node's contract.
 */

import { createParser } from 'eventsource-parser'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import { type AttemptResult, type Outcome, readQuestion, type Usage } from '../../domain/output.ts'
import type { Dispatch } from '../../domain/ports/dispatcher.ts'
import type { ParseText } from '../../domain/ports/parse-text.ts'
import { detectJson } from '../../output/index.ts'
import { readText } from '../models/generate/read-output.ts'
import { ended, usage } from './http-failures.ts'

/** What reading an answer needs of the call. */
interface AnsweredCall extends Pick<Dispatch, 'bundle' | 'rao' | 'linearPatterns' | 'onEvent' | 'signal'> {
  readonly parseText: ParseText
}

export async function readAnswer(text: string, call: AnsweredCall, usage: Usage): Promise<AttemptResult> {
  const read = await readText(text, {
    schema: call.bundle.returns,
    rao: call.rao,
    processing: {
      aop: 'full',
      shadow: false,
      reader: { linearPatterns: call.linearPatterns ?? false },
      enforceGrammar: false,
      enforcement: 'validate',
      structuredOutput: 'off',
    },
    onEvent: ({ type, ...payload }) => call.onEvent(type, payload as { [key: string]: Json }),
    parseText: call.parseText,
    signal: call.signal,
  })
  if (!read.ok && read.declined) return { outcome: 'refused', issues: read.issues, usage }
  if (!read.ok) {
    const issues = read.issues.map(withDepthHint)
    return { outcome: read.truncated ? 'truncated' : 'invalid', raw: text, issues, usage }
  }
  return {
    outcome: read.truncated ? 'truncated' : 'ok',
    output: { value: read.value, raw: text, ...(read.repairs.length > 0 && { repairs: read.repairs }) },
    issues: [],
    usage,
  }
}

/** The hint of the reader is for programs that call it: no setting changes the depth of an agent's answer. */
function withDepthHint(issue: Issue): Issue {
  return issue.code === 'limit/depth'
    ? { ...issue, hint: 'Answer with a value that is nested less deeply; this limit cannot be changed' }
    : issue
}

/** A response in progress. */
interface Arriving {
  readonly type: string
  readonly encoding: string
  readonly body: AsyncIterable<Uint8Array>
}

interface ReadLimits {
  readonly maxBytes: number
  /** The sender, for messages. Default `The agent`. */
  readonly who?: string
  /** Called with every chunk of the answer's text as it arrives. */
  readonly onText?: ((textChunk: string) => void) | undefined
}

type Arrived = { readonly text: string } | { readonly end: AttemptResult }

/**
 * Returns the text of a response. A plain body is its text; for server-sent events it is the joined data of all events until
 * `[DONE]` or the end. An event called `error` ends the stream.
 */
export async function readArriving({ type, encoding, body }: Arriving, limits: ReadLimits): Promise<Arrived> {
  const { who = 'The agent' } = limits
  if (encoding !== '' && encoding !== 'identity')
    return unusable(`${who} compressed its answer (${encoding})`, 'Answer without Content-Encoding')
  const decoder = new TextDecoder()
  const events = /^text\/event-stream\b/i.test(type) ? eventText(limits.onText) : undefined
  let bytes = 0
  let text = ''
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > limits.maxBytes)
      return unusable(
        `The answer must have at most ${limits.maxBytes} bytes: ${who.toLowerCase()} sends more`,
        'Send a shorter answer',
      )
    const textChunk = decoder.decode(chunk, { stream: true })
    if (events === undefined) {
      text += textChunk
      limits.onText?.(textChunk)
      continue
    }
    events.feed(textChunk)
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
  return Object.assign(state, { feed: (textChunk: string) => parser.feed(textChunk) })
}

/** The answer is complete but not usable: a retry would return the same. */
function unusable(message: string, hint: string): Arrived {
  const issue = { code: 'answer/limit', at: { pointer: '' }, message, hint }
  return { end: { outcome: 'invalid', issues: [issue], usage } }
}

/** Outcomes that an agent may report in a callback. */
const namedEnds: ReadonlySet<string> = new Set<Outcome>([
  'refused',
  'timed_out',
  'throttled',
  'unavailable',
  'provider_error',
])

/** Reads a question of the agent, sent at once or by callback. The agent has done nothing yet. */
function readAsked(given: Json): AttemptResult {
  const { question: text, schema } = isObject(given) ? given : {}
  const question = readQuestion({ text, ...(schema !== undefined && { schema }) })
  if (typeof question === 'string') return ended({ outcome: 'invalid' }, `The agent asks, but ${question}`)
  return { outcome: 'unclear', question, issues: [], usage, notApplied: true }
}

/** Reads a response that is a question. */
export function readAskedText(text: string): AttemptResult {
  const read = detectJson(text)
  return readAsked(read.isParsed ? (read.value as Json) : null)
}

/** A posted answer: `{ output }`, `{ text }`, `{ question, schema? }`, or `{ error: { message, outcome?, notApplied? } }`. */
export async function readPosted(posted: Json, call: AnsweredCall): Promise<AttemptResult> {
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
