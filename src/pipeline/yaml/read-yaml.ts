/**
 * Reads YAML into a tree with ranges, or returns located issues. Safe for untrusted files: no code execution,
 * bounded recursion and time.
 */
import { parseDocument, type YAMLError } from 'yaml'
import type { Json } from '../../base/json.ts'
import { decodeUtf8 } from '../text/decode-utf8.ts'
import {
  createSource,
  type Finding,
  issueAt,
  type Source,
  type SourceIssue,
  toPosition,
} from '../text/source.ts'
import { scanYaml, type YamlComment, yamlLimits } from './scan-yaml.ts'
import { makeTree, plainValue, type YamlNode } from './yaml-tree.ts'

export interface YamlDocument {
  readonly source: Source
  readonly root: YamlNode
  /** All comments in order; some suppress rules. */
  readonly comments: readonly YamlComment[]
  /** The plain JSON value; aliases are resolved. */
  readonly value: Json
}

export type ReadYaml =
  | { readonly ok: true; readonly document: YamlDocument }
  | { readonly ok: false; readonly issues: readonly SourceIssue[] }

/**
 * YAML 1.2 as JSON sees it: `on`, `off`, `yes` and `no` are texts, keys are texts, no tags of anybody's own.
 *
 * @example
 * readYaml('steps: [{ name: a }]', 'pipeline.yaml')
 */
export function readYaml(given: string | Uint8Array, name = 'pipeline'): ReadYaml {
  const bytes = typeof given === 'string' ? Buffer.byteLength(given) : given.byteLength
  if (bytes > yamlLimits.bytes) return tooLarge(name, bytes)
  const text = typeof given === 'string' ? { text: given } : decodeUtf8(given)
  const source = createSource(text.text, name)
  if ('finding' in text) return refuse(source, [text.finding])
  const scanned = scanYaml(source)
  if ('finding' in scanned) return refuse(source, [scanned.finding])
  const parsed = parseSafely(source.text)
  if ('findings' in parsed) return refuse(source, parsed.findings)
  const { root, findings } = makeTree(parsed.contents)
  if (findings.length > 0)
    return refuse(
      source,
      findings.map((finding) => withFirst(source, finding)),
    )
  return { ok: true, document: { source, root, comments: scanned.comments, value: plainValue(root) } }
}

/** For files whose size is known before they are read. */
export function tooLarge(name: string, bytes: number): ReadYaml {
  const finding: Finding = {
    code: 'pipeline/limit',
    range: [0, 0],
    message: `the file has ${bytes} bytes, more than the ${yamlLimits.bytes} that a pipeline may have`,
    hint: 'Move long texts into files of their own (from_file), or parts into imports',
  }
  return refuse(createSource('', name), [finding])
}

function parseSafely(text: string): { contents: unknown } | { findings: readonly Finding[] } {
  try {
    const { contents, errors, warnings } = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      // Our own check reports the location of the first key, and avoids the parser's quadratic comparison.
      uniqueKeys: false,
      keepSourceTokens: false,
      prettyErrors: false,
      logLevel: 'error',
      strict: true,
      merge: false,
    })
    // A warning means that something was not understood, such as a tag, so it counts as an error.
    const found = [...errors, ...warnings]
    return found.length > 0 ? { findings: found.map(asFinding) } : { contents }
  } catch (error) {
    // The scan rejects files that could make the parser throw; this is the safety net.
    const message = `the file cannot be read as YAML: ${error instanceof Error ? error.message : String(error)}`
    return { findings: [{ code: 'pipeline/yaml', range: [0, 1], message }] }
  }
}

const mostErrors = 20

const hints: Partial<Record<YAMLError['code'], string>> = {
  TAB_AS_INDENT: 'Indent with spaces',
  MULTIPLE_DOCS: 'One file holds one document: remove the line with ---',
  TAG_RESOLVE_FAILED: 'Remove the tag: only plain values are read',
  BAD_INDENT: 'Align the keys of one map, and close every bracket',
  MISSING_CHAR: 'Close the quote or the bracket, or put a space after the colon',
  MULTILINE_IMPLICIT_KEY: 'Put the value on the line of its key, or quote it',
  BAD_SCALAR_START: 'Put the text in quotes',
  BAD_ALIAS: 'Name an anchor above it; put texts that begin with * in quotes',
}

function asFinding({ code, message, pos }: YAMLError): Finding {
  const hint = hints[code]
  const text = message.charAt(0).toLowerCase() + message.slice(1)
  return {
    code: code === 'RESOURCE_EXHAUSTION' ? 'pipeline/limit' : 'pipeline/yaml',
    range: [pos[0], Math.max(pos[0] + 1, pos[1])],
    message: text,
    ...(hint !== undefined && { hint }),
  }
}

function withFirst(source: Source, finding: Finding): Finding {
  const { actual, ...rest } = finding
  const first = (actual as { first?: readonly [number, number] } | undefined)?.first
  if (!first) return finding
  return { ...rest, message: `${rest.message}; the first is on line ${toPosition(source, first[0]).line}` }
}

function refuse(source: Source, findings: readonly Finding[]): ReadYaml {
  return { ok: false, issues: findings.slice(0, mostErrors).map((finding) => issueAt(source, finding)) }
}
