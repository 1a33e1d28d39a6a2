/**
 * Plays the official JSON Schema Test Suite through every validator: the interpreter, the reader's own way (interpreted
 * first, compiled when used often), and Ajv as it comes with its own classes for each draft.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { JsonSchema } from '../../src/index.ts'
import type { Draft } from '../seams/schema.ts'
import { type Document, type Documents, type Judge, type ValidatorName, validators } from './validators.ts'

export const suiteDrafts = {
  draft4: '04',
  draft6: '06',
  draft7: '07',
  'draft2019-09': '2019-09',
  'draft2020-12': '2020-12',
} as const satisfies Record<string, Draft>

export type SuiteDraft = keyof typeof suiteDrafts

/** `format` are the optional tests of formats. */
export const suiteParts = ['required', 'optional', 'format'] as const

export type SuitePart = (typeof suiteParts)[number]

export interface Failure {
  readonly file: string
  readonly group: string
  readonly test: string
  /** What the suite says. */
  readonly valid: boolean
  /** What went wrong, when there was no verdict. */
  readonly error?: string
}

export interface SuiteRow {
  readonly draft: SuiteDraft
  readonly part: SuitePart
  readonly validator: ValidatorName
  readonly passed: number
  readonly failed: number
  readonly failures: readonly Failure[]
}

/** Formats are asserted here, as in most validators; these files promise that they are annotations only. */
const contradicted = new Set(['format.json'])

export function playSuite(folder: string, onRow?: (row: SuiteRow) => void): SuiteRow[] {
  const rows: SuiteRow[] = []
  for (const draft of Object.keys(suiteDrafts) as SuiteDraft[]) {
    const documents = readRemotes(join(folder, 'remotes'), draft)
    for (const part of suiteParts) {
      const files = readTests(join(folder, 'tests', draft), part)
      for (const validator of Object.keys(validators) as ValidatorName[]) {
        const row = playFiles({ draft, part, validator, files, documents })
        rows.push(row)
        onRow?.(row)
      }
    }
  }
  return rows
}

interface Group {
  readonly description: string
  readonly schema: JsonSchema
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

interface TestFile {
  readonly name: string
  readonly groups: readonly Group[]
}

interface Played {
  readonly draft: SuiteDraft
  readonly part: SuitePart
  readonly validator: ValidatorName
  readonly files: readonly TestFile[]
  readonly documents: Documents
}

function playFiles({ draft, part, validator, files, documents }: Played): SuiteRow {
  const failures: Failure[] = []
  let passed = 0
  for (const { name, groups } of files) {
    for (const group of groups) {
      const judge = prepared(() =>
        validators[validator](group.schema, suiteDrafts[draft], mentioned(group.schema, documents)),
      )
      for (const test of group.tests) {
        const verdict = prepared(() => (typeof judge === 'function' ? judge(test.data) : judge))
        if (verdict === test.valid) passed++
        else {
          failures.push({
            file: name,
            group: group.description,
            test: test.description,
            valid: test.valid,
            ...(typeof verdict === 'string' && { error: verdict }),
          })
        }
      }
    }
  }
  return { draft, part, validator, passed, failed: failures.length, failures }
}

function prepared<T extends Judge | boolean | string>(work: () => T): T | string {
  try {
    return work()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function readTests(folder: string, part: SuitePart): TestFile[] {
  const start = join(folder, { required: '', optional: 'optional', format: 'optional/format' }[part])
  return readdirSync(start)
    .filter((name) => name.endsWith('.json') && !contradicted.has(name))
    .sort()
    .map((name) => ({ name, groups: JSON.parse(readFileSync(join(start, name), 'utf8')) }))
}

/** The documents that a schema refers to, directly or through another one. The suite shares some between drafts that read them differently. */
function mentioned(schema: JsonSchema, documents: Documents): Documents {
  const found = new Map<string, Document>()
  const texts = [JSON.stringify(schema)]
  for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
    for (const [uri, document] of documents) {
      if (found.has(uri) || !text.includes(basename(uri))) continue
      found.set(uri, document)
      texts.push(JSON.stringify(document.schema))
    }
  }
  return found
}

/** The documents that the suite refers to, by the URI under which it expects them. */
function readRemotes(folder: string, draft: SuiteDraft): Documents {
  const documents = new Map<string, Document>()
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!name.endsWith('.json')) continue
    const [first = ''] = name.split('/')
    const of = first.startsWith('draft') ? (first as SuiteDraft) : draft
    if (!(of in suiteDrafts)) continue
    documents.set(`http://localhost:1234/${name}`, {
      schema: JSON.parse(readFileSync(join(folder, name), 'utf8')),
      draft: suiteDrafts[of],
    })
  }
  return documents
}
