/**
 * Records the calls of a provider once and replays them in tests (a record and replay proxy). Recordings are redacted. A
 * request without a recording is a miss, and a miss fails the test (`useCassette`).
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { canonicalJson, sha256Hex } from '../../base/canonical.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject } from '../../base/json.ts'
import type { ModelAnswer, ModelRequest, Provider, StructuredOutcome } from '../../domain/ports/provider.ts'
import { createRedactor, type Redactor } from '../../domain/redaction/redact.ts'
import { schemaHash } from '../../schema/hash.ts'
import { describeDifference } from './difference.ts'

/** One recorded call in the file: JSON that is readable in a review, with long texts as lists of lines. */
interface Entry {
  /** SHA-256 of the recorded request. */
  readonly key: string
  readonly request: {
    readonly model: string
    readonly system: readonly string[]
    readonly prompt: readonly string[]
    readonly schemaHash?: string
    readonly structured?: string
    /** The provider enforced the schema, which is therefore not in the words. */
    readonly enforced?: true
    readonly maxOutputTokens?: number
    /** Of a turn of an agent; its conversation is the prompt. */
    /** SHA-256 of the files that were sent. */
    readonly files?: readonly string[]
    readonly tools?: readonly string[]
    readonly toolChoice?: ModelRequest['toolChoice']
    readonly settings?: ModelRequest['settings']
  }
  readonly answer: ModelAnswer
}

const version = 1

/** Reads the entries of a cassette; none if the file does not exist yet. */
function readTape(file: string): readonly Entry[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw cause
  }
  const tape: unknown = JSON.parse(text)
  if (!isObject(tape) || tape['version'] !== version || !Array.isArray(tape['entries']))
    throw new ProvisoError('option/invalid', `${file} is not a cassette of version ${version}`, {
      hint: 'Record it again with mode "record"',
    })
  return tape['entries'].map((entry) => ({ ...entry, answer: unfold(entry.answer) }))
}

/** Writes the file atomically: a test that crashes while it records leaves the old cassette. */
function writeTape(file: string, entries: readonly Entry[]): void {
  const tape = { version, entries: entries.map((entry) => ({ ...entry, answer: fold(entry.answer) })) }
  writeFileSync(`${file}.part`, `${JSON.stringify(tape, null, 2)}\n`)
  renameSync(`${file}.part`, file)
}

/** Stores multi-line texts as lists of lines, so that diffs are readable. */
function fold(answer: ModelAnswer): unknown {
  return 'text' in answer && answer.text?.includes('\n')
    ? { ...answer, text: answer.text.split('\n') }
    : answer
}

function unfold(answer: { readonly text?: string | readonly string[] }): ModelAnswer {
  const text = Array.isArray(answer.text) ? { text: answer.text.join('\n') } : {}
  return { ...answer, ...text } as ModelAnswer
}

export interface CassetteOptions {
  /** Path of the cassette. */
  readonly file: string
  /** Provider to record. Not needed for replay. */
  readonly provider?: Provider
  /** `replay` (default) makes no calls; `record` calls the provider and starts a new cassette, `extend` continues one. */
  readonly mode?: 'replay' | 'record' | 'extend'
  /** Models it serves. Default: the name of the provider, else `*`. */
  readonly name?: string
  /** Texts to redact from the recording, in addition to the keys of the provider. */
  readonly secrets?: readonly string[]
}

export interface Cassette extends Provider {
  /** One message for each request without a recording. */
  readonly misses: readonly string[]
  /** Recorded answers that have not been requested. */
  readonly unused: number
  /** Calls that were recorded here. */
  readonly recorded: number
  /** The same cassette for the models of one more provider. */
  readonly record: (provider: Provider) => Provider
  /** Writes the cassette, unless it is replayed. */
  save(): void
}

export function cassette(options: CassetteOptions): Cassette {
  const { file, mode = 'replay', secrets = [] } = options
  const earlier = mode === 'record' ? [] : readTape(file)
  const tape: Tape = { file, entries: [...earlier], left: [...earlier], misses: [] }
  const serve = (provider: Provider | undefined, name: string): Provider => {
    const redactor = createRedactor({ secrets: [...secrets, ...(provider?.secrets?.() ?? [])] })
    return {
      name,
      ...(provider?.models && { models: provider.models }),
      ...(provider?.free && { free: provider.free }),
      // What was recorded has the parts of its turns.
      ...((mode === 'replay' || provider?.tools) && { tools: true as const }),
      structured: (request) => provider?.structured?.(request) ?? recordedOutcome(tape, request),
      secrets: () => provider?.secrets?.() ?? [],
      takesFile: (file) => (provider ? (provider.takesFile?.(file) ?? false) : true),
      async generate(request) {
        const wanted = entryFor(request, redactor)
        if (mode === 'replay') return play(tape, wanted, request)
        if (provider === undefined) throw new Error('Cannot record a cassette: no provider is given')
        const answer = await provider.generate(request)
        tape.entries.push({ ...wanted, answer: redactor.value(answer) as ModelAnswer })
        return answer
      },
    }
  }
  return {
    ...serve(options.provider, options.name ?? options.provider?.name ?? '*'),
    misses: tape.misses,
    get unused() {
      return mode === 'replay' ? tape.left.length : 0
    },
    get recorded() {
      return tape.entries.length - earlier.length
    },
    record: (provider) => serve(provider, provider.name),
    save() {
      if (mode !== 'replay') writeTape(file, tape.entries)
    },
  }
}

interface Tape {
  readonly file: string
  readonly entries: Entry[]
  /** Not replayed yet. */
  readonly left: Entry[]
  readonly misses: string[]
}

/** Whether the provider enforced the schema when the call was recorded: the words of a request depend on it. */
function recordedOutcome(
  { entries }: Tape,
  { model, schema, structured }: Parameters<NonNullable<Provider['structured']>>[0],
): StructuredOutcome {
  const hash = schema === undefined ? undefined : schemaHash(schema)
  const isEnforced = entries.some(
    ({ request }) =>
      request.enforced &&
      request.model === model &&
      request.schemaHash === hash &&
      request.structured === structured,
  )
  return isEnforced
    ? { kind: 'applied', as: 'json_schema', weakened: 0 }
    : { kind: 'skipped', reason: 'a cassette replays its recording' }
}

function play(tape: Tape, wanted: Omit<Entry, 'answer'>, request: ModelRequest): ModelAnswer {
  const { key } = wanted
  const at = tape.left.findIndex((entry) => entry.key === key)
  const [found] = at < 0 ? [] : tape.left.splice(at, 1)
  if (found) {
    const { answer } = found
    if ('text' in answer && answer.text) {
      request.onText?.(answer.text)
      request.onDelta?.({ type: 'text', delta: answer.text })
    }
    return answer
  }
  const message = `Cannot replay a call of "${request.model}": ${tape.file} has no recording of it (${key.slice(0, 12)})${describeNearest(wanted, tape)}`
  tape.misses.push(message)
  return { kind: 'error', message, hint: 'Record it again, or undo what changed the request', fatal: true }
}

/** The recorded request that is most like the wanted one, and what differs. */
function describeNearest(
  wanted: Omit<Entry, 'answer'>,
  { entries, left }: { readonly entries: readonly Entry[]; readonly left: readonly Entry[] },
): string {
  if (entries.some(({ key }) => key === wanted.key)) return '; it was recorded, and has been played already'
  const nearest = (left.length > 0 ? left : entries)
    .map((entry) => ({ entry, difference: describeDifference(entry.request, wanted.request) }))
    .sort((a, b) => a.difference.size - b.difference.size)[0]
  if (!nearest) return '; it holds no calls'
  const { entry, difference } = nearest
  return `. The nearest is ${entry.key.slice(0, 12)}; - recorded, + requested:\n${difference.lines.join('\n')}`
}

/** Builds the entry of a request. Redacts it first, so that the same call with another API key has the same hash. */
function entryFor(request: ModelRequest, redactor: Redactor): Omit<Entry, 'answer'> {
  const { model, system, prompt, schema, schemaWords, structured } = request
  const { maxOutputTokens, tools, toolChoice, settings, files = [] } = request
  const recorded = {
    model,
    system: redactor.text(system).split('\n'),
    prompt: redactor.text(prompt).split('\n'),
    ...(schema !== undefined && { schemaHash: schemaHash(schema) }),
    ...(structured !== undefined && { structured }),
    ...(schemaWords !== undefined && { enforced: true as const }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(files.length > 0 && { files: files.map(({ sha256 }) => sha256) }),
    ...(tools && { tools: tools.map(({ name }) => name) }),
    ...(toolChoice !== undefined && toolChoice !== 'auto' && { toolChoice }),
    ...(settings && { settings }),
  }
  return { key: sha256Hex(canonicalJson(recorded)), request: recorded }
}

/** Functions of the test runner, such as those of vitest. */
export interface CassetteHooks {
  readonly afterEach: (check: () => void) => void
  readonly afterAll: (save: () => void) => void
}

/**
 * Creates a cassette for a test file: a miss fails the test that caused it, and the recording is saved after all tests.
 *
 * @example
 * import { afterAll, afterEach } from 'vitest'
 * const tape = useCassette({ afterAll, afterEach }, { file: 'test/tea.cassette.json', provider: openai({ apiKey }) })
 * const app = await createApp({ providers: [tape] })
 */
export function useCassette({ afterEach, afterAll }: CassetteHooks, options: CassetteOptions): Cassette {
  const tape = cassette(options)
  let reported = 0
  afterEach(() => {
    const news = tape.misses.slice(reported)
    reported = tape.misses.length
    if (news.length > 0)
      throw new Error(`${news.join('\n')}\nRecord it again with mode "record" and a provider`)
  })
  afterAll(() => tape.save())
  return tape
}
