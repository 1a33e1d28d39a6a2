/**
 * Records the calls of a provider once and replays them in tests (a record and replay proxy). Recordings are redacted. A
 * request without a recording is a miss, and a miss fails the test (`useCassette`).
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { canonicalJson, sha256Hex } from '../../base/canonical.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject } from '../../base/json.ts'
import type { ModelAnswer, ModelRequest, Provider } from '../../domain/ports/provider.ts'
import { createRedactor, type Redactor } from '../../domain/redaction/redact.ts'
import { schemaHash } from '../../schema/hash.ts'

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
    readonly maxOutputTokens?: number
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
  /** `replay` (default) makes no calls; `record` calls the provider and starts a new cassette. */
  readonly mode?: 'replay' | 'record'
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
  /** Writes the cassette in mode `record`. */
  save(): void
}

export function cassette(options: CassetteOptions): Cassette {
  const { file, provider, mode = 'replay' } = options
  const redactor = createRedactor({ secrets: [...(options.secrets ?? []), ...(provider?.secrets?.() ?? [])] })
  const entries: Entry[] = mode === 'record' ? [] : [...readTape(file)]
  const left = [...entries]
  const misses: string[] = []

  const play = (request: ModelRequest): ModelAnswer => {
    const { key } = entryFor(request, redactor)
    const at = left.findIndex((entry) => entry.key === key)
    const [found] = at < 0 ? [] : left.splice(at, 1)
    if (found) {
      if (request.onText && 'text' in found.answer && found.answer.text) request.onText(found.answer.text)
      return found.answer
    }
    const message = `Cannot replay a call of "${request.model}": ${file} has no recording of it (${key.slice(0, 12)})`
    misses.push(message)
    return { kind: 'error', message, fatal: true }
  }

  return {
    name: options.name ?? provider?.name ?? '*',
    ...(provider?.free && { free: provider.free }),
    misses,
    get unused() {
      return mode === 'record' ? 0 : left.length
    },
    structured: (request) =>
      provider?.structured?.(request) ?? {
        kind: 'skipped',
        reason: 'a cassette replays its recording',
      },
    secrets: () => provider?.secrets?.() ?? [],
    async generate(request) {
      if (mode === 'replay') return play(request)
      if (provider === undefined) throw new Error('Cannot record a cassette: no provider is given')
      const answer = await provider.generate(request)
      entries.push({ ...entryFor(request, redactor), answer: redactor.value(answer) as ModelAnswer })
      return answer
    },
    save() {
      if (mode === 'record') writeTape(file, entries)
    },
  }
}

/** Builds the entry of a request. Redacts it first, so that the same call with another API key has the same hash. */
function entryFor(request: ModelRequest, redactor: Redactor): Omit<Entry, 'answer'> {
  const { model, system, prompt, schema, structured, maxOutputTokens } = request
  const recorded = {
    model,
    system: redactor.text(system).split('\n'),
    prompt: redactor.text(prompt).split('\n'),
    ...(schema !== undefined && { schemaHash: schemaHash(schema) }),
    ...(structured !== undefined && { structured }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
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
