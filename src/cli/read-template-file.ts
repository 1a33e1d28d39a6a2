/** An XML template as the file of `proviso run` and `proviso prove`: its draft for the inputs given, or what is wrong with it. */
import { defineCapability } from '../app.ts'
import type { Issue } from '../base/issue.ts'
import type { Json } from '../base/json.ts'
import { parseDraft } from '../domain/parse-draft.ts'
import { parseEnvelope } from '../domain/parse-envelope.ts'
import { conditionIssues } from '../engine/conditions.ts'
import {
  compileTemplate,
  describeSourceIssue,
  parseTemplate,
  type SourceIssue,
  type TemplateCapability,
  templateCapabilities,
  xmlLimits,
  xmlTooLarge,
} from '../pipeline/index.ts'
import { readBytes } from './read-bytes.ts'
import type { Unreadable } from './read-input.ts'
import type { RunFile } from './read-run-file.ts'

export function isTemplateFile(file: string): boolean {
  return /\.xml$/i.test(file)
}

type Read = RunFile | Pick<RunFile, 'capabilities' | 'warnings'> | { readonly unreadable: Unreadable }

const options = { checkCondition: conditionIssues }

/** Without inputs only what it calls: for commands that go on with a run. */
export async function readTemplateFile(
  file: string,
  inputs: { readonly [name: string]: Json } | undefined,
): Promise<Read> {
  const read = await readBytes(file, xmlLimits.bytes)
  if ('unreadable' in read) return read
  const parsed = 'tooLarge' in read ? xmlTooLarge(file, read.tooLarge) : parseTemplate(read.bytes, file)
  if (!parsed.ok) return refused(file, parsed.issues)
  if (!('file' in parsed)) throw new Error('A file that is too large is refused')
  const warnings: Unreadable = { message: '' }
  if (inputs === undefined) return { capabilities: defined(templateCapabilities(parsed.file)), warnings }
  const result = compileTemplate(parsed.file, inputs)
  if (!result.ok) return refused(file, result.issues)
  const { envelope, draft, capabilities } = result.compiled
  const [wanted, way] = [parseEnvelope(envelope, options), parseDraft(draft, options)]
  if (!wanted.ok) return broken(file, wanted.issues)
  if (!way.ok) return broken(file, way.issues)
  return { envelope: wanted.value, draft: way.value, capabilities: defined(capabilities), warnings }
}

function defined(capabilities: readonly TemplateCapability[]) {
  return capabilities.map(({ capability, run }) => defineCapability({ ...capability, ...(run && { run }) }))
}

function refused(file: string, issues: readonly SourceIssue[]): { readonly unreadable: Unreadable } {
  const count = issues.length === 1 ? 'one issue' : `${issues.length} issues`
  return {
    unreadable: {
      message: `${file} cannot be used: ${count}\n${issues.map(describeSourceIssue).join('\n')}`,
    },
  }
}

/** What the inputs make of the template is no envelope or draft: too deep or too long, for example. */
function broken(file: string, issues: readonly Issue[]): { readonly unreadable: Unreadable } {
  return {
    unreadable: {
      message: `${file} cannot be run with these inputs`,
      issues: issues.map(({ at, message, hint }) => ({
        place: 'pointer' in at ? at.pointer : '',
        message,
        ...(hint !== undefined && { hint }),
      })),
    },
  }
}
