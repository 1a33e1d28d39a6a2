/** Strict JSON from a file or stdin, or why there is none; and issues in it, each with its line and column. */
import type { Issue } from '../base/issue.ts'
import type { Json } from '../base/json.ts'
import { parse } from '../output/index.ts'
import { offsetOf } from './locate.ts'
import { lineAndColumn } from './print.ts'
import { inputName, readInput, type Unreadable } from './read-input.ts'

const maxBytes = 16 * 1024 * 1024

export interface JsonFile {
  readonly value: Json
  readonly text: string
  /** How it is called in messages. */
  readonly name: string
}

/** `what` it is meant to be, for messages: "the schema". */
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

/** Why a file that is JSON cannot be used: every issue with `file:line:column` and its pointer. */
export function unusable(file: JsonFile, issues: readonly Issue[]): Unreadable {
  const count = issues.length === 1 ? 'one issue' : `${issues.length} issues`
  return {
    message: `${file.name} cannot be used: ${count}`,
    issues: issues.map(({ at, message, hint }) => {
      const pointer = 'pointer' in at ? at.pointer : ''
      const place = `${file.name}:${lineAndColumn(file.text, offsetOf(file.text, pointer))}`
      return {
        place: pointer === '' ? place : `${place} ${pointer}`,
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
  const place = lineAndColumn(text, whereItBreaks(text, error))
  return {
    message: `${name}:${place}: ${what} is not JSON: ${error.message}`,
    hint: `It must be strict JSON, without comments or trailing commas`,
  }
}

/** V8 does not always say where; the first change that our own reader would make does. */
function whereItBreaks(text: string, error: SyntaxError): number {
  const said = /position (\d+)/.exec(error.message)
  if (said) return Number(said[1])
  const spans = parse(text, undefined, { aop: 'minimal' }).repairs.flatMap(({ at }) =>
    'span' in at ? [at.span[0]] : [],
  )
  return spans.length > 0 ? Math.min(...spans) : 0
}
