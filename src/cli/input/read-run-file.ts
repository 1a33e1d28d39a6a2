/**
 * Reads the file of `proviso run` and `proviso prove`: an envelope alone, or with a draft and with capabilities that need
 * no program. Returns all issues if it is invalid.
 */

import { type DefinedCapability, defineCapability } from '../../app.ts'
import { closest } from '../../base/closest.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import { parseCapability } from '../../domain/capability/parse-capability.ts'
import { parseDraft } from '../../domain/draft/parse-draft.ts'
import { parseEnvelope } from '../../domain/envelope/parse-envelope.ts'
import type { Envelope } from '../../domain/envelope.ts'
import type { ParseIssueCode } from '../../domain/parse/issue-table.ts'
import { addBelow, type FoundIssues } from '../../domain/parse/parsed.ts'
import type { Draft } from '../../domain/plan.ts'
import { conditionIssues } from '../../engine/decide/checks/conditions.ts'
import type { Unreadable } from '../read-input.ts'
import { type JsonFile, readJson, unusable } from './read-json.ts'

export interface RunFile {
  readonly envelope: Envelope
  readonly draft?: Draft
  readonly capabilities: readonly DefinedCapability[]
  /** Deprecated spellings, with their locations. */
  readonly warnings: Unreadable
}

const keys = ['envelope', 'draft', 'capabilities']
const options = { checkCondition: conditionIssues }

export async function readRunFile(file: string): Promise<RunFile | { readonly unreadable: Unreadable }> {
  const read = await readJson(file, 'the file')
  return 'unreadable' in read ? read : parseRunFile(read)
}

function parseRunFile(file: JsonFile): RunFile | { readonly unreadable: Unreadable } {
  const { value } = file
  const findings: FoundIssues<RunFileIssueCode> = { issues: [], warnings: [] }
  if (!isObject(value)) {
    const issue: Issue<RunFileIssueCode> = {
      code: 'run-file/shape',
      at: { pointer: '' },
      message: 'must be an object',
      hint: shape,
    }
    return { unreadable: unusable(file, [issue]) }
  }
  if (isEnvelope(value)) return parseAlone(file, value)
  findings.issues.push(...unknownKeys(value))
  const envelope = parseEnvelope(own(value, 'envelope') ?? null, options)
  const given = own(value, 'draft')
  const draft = given === undefined ? undefined : parseDraft(given, options)
  if (own(value, 'envelope') === undefined) findings.issues.push(missing('envelope'))
  else addBelow(findings, '/envelope', envelope)
  if (draft) addBelow(findings, '/draft', draft)
  const capabilities = readCapabilities(own(value, 'capabilities') as Json | undefined, findings)
  if (findings.issues.length > 0 || !envelope.ok || draft?.ok === false)
    return { unreadable: unusable(file, findings.issues) }
  return {
    envelope: envelope.value,
    ...(draft && { draft: draft.value }),
    capabilities,
    warnings: unusable(file, findings.warnings),
  }
}

/** Detects a bare envelope by its own keys, which a run file does not have at the top level. */
function isEnvelope(value: object): boolean {
  return (
    !Object.hasOwn(value, 'envelope') &&
    ['objective', 'outputContract'].some((key) => Object.hasOwn(value, key))
  )
}

function parseAlone(file: JsonFile, value: object): RunFile | { readonly unreadable: Unreadable } {
  const envelope = parseEnvelope(value, options)
  if (!envelope.ok) return { unreadable: unusable(file, envelope.issues) }
  return { envelope: envelope.value, capabilities: [], warnings: unusable(file, envelope.warnings) }
}

const shape = `Start from {"envelope": {"objective": "…", "outputContract": {"schema": {}}}, "draft": {"nodes": []}, "capabilities": []}`

type RunFileIssueCode = ParseIssueCode | `run-file/${'shape' | 'missing' | 'unknown' | 'function'}`

function missing(key: string): Issue<RunFileIssueCode> {
  return { code: 'run-file/missing', at: { pointer: '' }, message: `has no "${key}"`, hint: shape }
}

function unknownKeys(value: object): Issue<RunFileIssueCode>[] {
  return Object.keys(value)
    .filter((key) => !keys.includes(key))
    .map((key) => {
      const meant = closest(key, keys)
      return {
        code: 'run-file/unknown',
        at: { pointer: child('', key) },
        message: `unknown key ${JSON.stringify(key)}`,
        hint: meant === undefined ? `A run file has ${keys.join(', ')}` : `Did you mean "${meant}"?`,
      }
    })
}

function readCapabilities(
  given: Json | undefined,
  findings: FoundIssues<RunFileIssueCode>,
): DefinedCapability[] {
  if (given === undefined) return []
  if (!Array.isArray(given)) {
    const at = { pointer: '/capabilities' }
    findings.issues.push({ code: 'run-file/shape', at, message: 'must be a list of capabilities' })
    return []
  }
  return given.flatMap((entry: Json, index) => {
    const parsed = parseCapability(entry, options)
    addBelow(findings, `/capabilities/${index}`, parsed)
    if (!parsed.ok) return []
    if (parsed.value.kind !== 'local') return [defineCapability(parsed.value)]
    findings.issues.push({
      code: 'run-file/function',
      at: { pointer: `/capabilities/${index}` },
      message: `"${parsed.value.capabilityId}" is a function of a program, which a file cannot hold`,
      hint: 'Give it the kind "scripted" or "human", or bring it with --use FILE',
    })
    return []
  })
}
