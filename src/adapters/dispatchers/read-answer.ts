/** A model's text becomes an output: read toward the node's schema, or, under a RAO contract, as an envelope and untouched. */
import type { Json } from '../../base/json.ts'
import type { AttemptResult, RepairNote, Usage } from '../../domain/output.ts'
import type { Dispatch } from '../../domain/ports/dispatcher.ts'
import { raoEnvelopeSchema } from '../../domain/rao-envelope.ts'
import { type ParseOptions, type ParseResult, parse } from '../../output/index.ts'

/** Syntax may be mended; the words of an envelope are taken as they are, or not at all (C47). */
const untouched: ParseOptions = { aop: 'minimal', closed: ['', '/*'] }

export function readAnswer(text: string, call: Dispatch, usage: Usage): AttemptResult {
  const onEvent: ParseOptions['onEvent'] = ({ type, ...payload }) =>
    call.onEvent(type, payload as { [key: string]: Json })
  const read: ParseResult<unknown> = call.rao
    ? parse(text, raoEnvelopeSchema, { ...untouched, onEvent })
    : parse(text, call.bundle.returns, { onEvent })
  if (!read.ok) {
    const outcome = read.truncated ? 'truncated' : 'invalid'
    return { outcome, issues: read.issues, usage }
  }
  const repairs: RepairNote[] = read.repairs
    .slice(0, mostNotes)
    .map(({ stage, rule, at }) => ({ stage, rule, ...('pointer' in at && { pointer: at.pointer }) }))
  return {
    outcome: read.truncated ? 'truncated' : 'ok',
    output: { value: read.value as Json, raw: text, ...(repairs.length > 0 && { repairs }) },
    issues: [],
    usage,
  }
}

/** Provenance, not evidence: a text with more repairs than this is told by its raw text. */
const mostNotes = 100
