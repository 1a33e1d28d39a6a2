/** What a cassette looks like on disk: JSON that people read in a review, long texts as lists of lines. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { ProvisoError } from '../../base/error.ts'
import { isObject } from '../../base/json.ts'
import type { ModelAnswer } from '../../domain/ports/provider.ts'

export interface Entry {
  /** Names the request: SHA-256 of what it asks. */
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

/** The entries of a cassette; none when the file is not there yet. */
export function readTape(file: string): readonly Entry[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw cause
  }
  const tape: unknown = JSON.parse(text)
  if (!isObject(tape) || tape['version'] !== version || !Array.isArray(tape['entries']))
    throw new ProvisoError('option/invalid', `${file} is no cassette of version ${version}`, {
      hint: 'Record it anew',
    })
  return tape['entries'].map((entry) => ({ ...entry, answer: unfold(entry.answer) }))
}

/** Whole or not at all: a test that dies while it records leaves the old cassette. */
export function writeTape(file: string, entries: readonly Entry[]): void {
  const tape = { version, entries: entries.map((entry) => ({ ...entry, answer: fold(entry.answer) })) }
  writeFileSync(`${file}.part`, `${JSON.stringify(tape, null, 2)}\n`)
  renameSync(`${file}.part`, file)
}

/** Texts of several lines as lists, because a diff of one long line tells nobody anything. */
function fold(answer: ModelAnswer): unknown {
  return 'text' in answer && answer.text?.includes('\n')
    ? { ...answer, text: answer.text.split('\n') }
    : answer
}

function unfold(answer: { readonly text?: string | readonly string[] }): ModelAnswer {
  const text = Array.isArray(answer.text) ? { text: answer.text.join('\n') } : {}
  return { ...answer, ...text } as ModelAnswer
}
