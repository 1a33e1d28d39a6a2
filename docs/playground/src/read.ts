/** Reads for the page: runs in its worker, and gives answers that are small whatever the text is. */
import { type Located, locateResult } from '../../../src/cli/diagnostics/locate-result.ts'
import { createRanges } from '../../../src/cli/diagnostics/positions.ts'
import {
  createReader,
  type Issue,
  jsonFault,
  type ParseResult,
  parse,
  type Reader,
  type Repair,
  type RuleName,
  rules,
  shorthandSchema,
} from '../../../src/output/index.ts'
import { limits } from './limits.ts'
import type { Answer, Note, Partial, Reading, Request } from './messages.ts'
import { toSegments } from './segments.ts'
import type { State } from './state.ts'

/** Issues of these codes are about the schema. */
const schemaCodes: readonly string[] = ['schema/invalid', 'schema/limit', 'schema/unknown-dialect']

export function createReading(): (request: Request) => Answer {
  const stream = createStream()
  return (request) => {
    const schema = readSchema(request.state.schema)
    if ('message' in schema) return { kind: 'refused', message: schema.message }
    return request.kind === 'read'
      ? { kind: 'read', reading: read(request.state, schema.value) }
      : { kind: 'stream', partial: stream(request.state, schema.value, request.arrived) }
  }
}

type Schema = Parameters<typeof parse>[1]

function readSchema(text: string): { readonly value: Schema } | { readonly message: string } {
  const trimmed = text.trim()
  if (trimmed === '') return { value: undefined }
  if (shorthandSchema(trimmed) !== undefined) return { value: trimmed }
  try {
    return { value: JSON.parse(trimmed) }
  } catch {
    return { message: `The schema is not JSON: ${jsonFault(trimmed) ?? 'it begins with no value'}.` }
  }
}

function read({ text, options }: State, schema: Schema): Reading {
  const result = parse(text, schema, options)
  const notes = toNotes(result)
  const shown = result.ok ? result.value : result.candidate
  return {
    ok: result.ok,
    headline: headline(result),
    value: shown === undefined ? '' : print(shown),
    segments: toSegments(text, [...notes.issues, ...notes.repairs]),
    issues: notes.issues,
    issueCount: result.issues.length,
    repairs: notes.repairs,
    repairCount: result.repairCount,
  }
}

function headline({ ok, repairCount, issues, truncated }: ParseResult): string {
  const changes =
    repairCount === 0 ? 'no change' : `${repairCount} ${repairCount === 1 ? 'change' : 'changes'}`
  const cut = truncated ? ' The text ended before the value did.' : ''
  if (ok) return `Valid value, ${changes}.${cut}`
  const count = `${issues.length} ${issues.length === 1 ? 'issue' : 'issues'}`
  return `No valid value: ${count}, ${changes}.${cut}`
}

function toNotes(result: ParseResult): { readonly issues: Note[]; readonly repairs: Note[] } {
  const { raw } = result
  const located = locateResult(result)
  const toRange = createRanges(raw)
  const placed = (
    at: Issue['at'],
    { range, pointer }: Located,
  ): Pick<Note, 'range' | 'location' | 'where'> => {
    const path = pointer === '' ? '' : excerpt(pointer)
    // The fallback of what has no known place in the text.
    if ('pointer' in at && at.pointer !== '' && range[0] === 0 && range[1] === raw.length)
      return { range, location: path, where: 'unknown' }
    const { line, character } = toRange(range).start
    return { range, location: `${line + 1}:${character + 1}${path === '' ? '' : ` ${path}`}`, where: 'text' }
  }
  const notePairs = <T extends Issue | Repair>(list: readonly T[], locations: readonly Located[]) =>
    list.slice(0, limits.notes).map((one, at) => [one, locations[at] as Located] as const)
  return {
    issues: notePairs(result.issues, located.issues).map(([issue, location]): Note => {
      const inSchema = {
        range: location.range,
        location: `schema ${excerpt(location.pointer) || '(root)'}`,
        where: 'schema',
      } as const
      return {
        kind: 'issue',
        ...(schemaCodes.includes(issue.code) ? inSchema : placed(issue.at, location)),
        title: issue.code,
        detail: [issue.message, issue.hint].filter((part) => part !== undefined).join('. '),
      }
    }),
    repairs: notePairs(result.repairs, located.repairs).map(([repair, location]): Note => {
      const isInsertion = 'span' in repair.at && repair.before === ''
      return {
        kind: repair.stage === 'extract' ? 'extract' : 'span' in repair.at ? 'text' : 'value',
        ...placed(repair.at, location),
        title: repair.rule,
        detail: `${sentenceOf(repair)}: ${show(repair, repair.before)} → ${show(repair, repair.after)}`,
        ...(isInsertion && { inserted: excerpt(String(repair.after)) }),
      }
    }),
  }
}

function sentenceOf({ rule }: Repair): string {
  return Object.hasOwn(rules, rule) ? rules[rule as RuleName].sentence : 'the value was changed'
}

function show({ at }: Repair, part: unknown): string {
  if (part === undefined || part === '') return 'nothing'
  return excerpt('span' in at && typeof part === 'string' ? part : print(part))
}

function excerpt(text: string): string {
  return text.length <= limits.excerpt ? text : `${text.slice(0, limits.excerpt)}…`
}

function print(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? ''
  if (text.length <= limits.value) return text
  return `${text.slice(0, limits.value)}\n… ${text.length - limits.value} more characters`
}

/** Continues where the last request ended if it is the same text, else begins again. */
function createStream(): (state: State, schema: Schema, arrived: number) => Partial {
  let last: { key: string; reader: Reader<unknown>; at: number; shown: string } | undefined
  return (state, schema, arrived) => {
    const key = JSON.stringify([state.schema, state.options, state.text])
    if (last === undefined || last.key !== key || last.at > arrived) {
      last = { key, reader: createReader(schema, state.options), at: 0, shown: '' }
    }
    if (arrived === last.at) return { arrived, value: last.shown, finished: [], replaced: false }
    const pushed = last.reader.push(state.text.slice(last.at, arrived))
    last.at = arrived
    last.shown = pushed.partial === undefined ? '' : print(pushed.partial)
    const finished = pushed.finished
      .slice(-20)
      .map((pointer) => (pointer === '' ? '(root)' : excerpt(pointer)))
    return { arrived, value: last.shown, finished, replaced: pushed.replaced }
  }
}
