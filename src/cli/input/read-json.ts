/** Reads strict JSON from a file or stdin, and locates issues in it by line and column. */
import type { Issue } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import { parse } from '../../output/index.ts'
import { findNode, readTree } from '../diagnostics/json-tree.ts'
import { createRanges } from '../diagnostics/positions.ts'
import { lineAndColumn } from '../print.ts'
import { inputName, readInput, type Unreadable } from '../read-input.ts'

const maxBytes = 16 * 1024 * 1024

export interface JsonFile {
  readonly value: Json
  readonly text: string
  /** Name in messages. */
  readonly name: string
}

/** `what` describes the expected content in messages: "the schema". */
export async function readJson(
  file: string,
  what: string,
): Promise<JsonFile | { readonly unreadable: Unreadable }> {
  const input = await readInput(file, { maxBytes })
  if ('unreadable' in input) return input
  const { text } = input
  const name = inputName(file)
  try {
    return { value: JSON.parse(text.replace(/^\ufeff/, '')), text, name }
  } catch (error) {
    return { unreadable: notJson(name, what, { text, error: error as SyntaxError }) }
  }
}

/** Builds the error for JSON that cannot be used: every issue with `file:line:column` and its pointer. */
export function unusable(file: JsonFile, issues: readonly Issue[]): Unreadable {
  const count = issues.length === 1 ? '1 issue' : `${issues.length} issues`
  return {
    message: `Cannot use ${file.name}: ${count}`,
    issues: issues.map(({ at, message, hint }) => {
      const pointer = 'pointer' in at ? at.pointer : ''
      const location = `${file.name}:${lineAndColumn(file.text, findOffset(file.text, pointer))}`
      return {
        location: pointer === '' ? location : `${location} ${pointer}`,
        message,
        ...(hint !== undefined && { hint }),
      }
    }),
  }
}

function notJson(
  name: string,
  what: string,
  { text, error }: { text: string; error: SyntaxError },
): Unreadable {
  const offset = whereItBreaks(text, error)
  return {
    message: `${name}:${lineAndColumn(text, offset)}: ${what} is not JSON: ${error.message}`,
    position: createRanges(text)([offset, offset]).start,
    hint: `Write strict JSON, without comments or trailing commas`,
  }
}

/** Finds the offset of a syntax error: V8 does not always report it; the first repair of the package's own parser does. */
function whereItBreaks(text: string, error: SyntaxError): number {
  const said = /position (\d+)/.exec(error.message)
  // `JSON.parse` received the text without its byte order mark.
  if (said) return Number(said[1]) + (text.startsWith('\ufeff') ? 1 : 0)
  const offsets = parse(text, undefined, { aop: 'minimal' }).repairs.flatMap(({ at }) =>
    'span' in at ? [at.span[0]] : [],
  )
  return offsets.length > 0 ? Math.min(...offsets) : 0
}

// Resolves JSON Pointers to offsets in the text of a JSON file, so that issues can name a line. The text has been parsed before.

/** Returns the offset of the value, or of the innermost existing value around it. */
export function findOffset(text: string, pointer: Pointer): number {
  return findNode(readTree(text), pointer).node.start
}
