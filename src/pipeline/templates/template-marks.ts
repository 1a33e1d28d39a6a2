/** Locates the `{{ … }}` expressions of a text in the source file, with their references and filters. */
import type { TextRange } from '../../base/errors/issue.ts'
import type { YamlScalar } from '../yaml/yaml-tree.ts'

export interface TemplateMark {
  /** From the first brace to the last. */
  readonly range: TextRange
  /** The expression is the whole text, so it yields the value itself instead of a text. */
  readonly whole: boolean
  /** References, such as `steps.write.output`, each with its range. */
  readonly references: readonly Word[]
  /** Filter names after `|`, each with its range. */
  readonly filters: readonly Word[]
}

interface Word {
  readonly text: string
  readonly range: TextRange
}

/** Expressions never contain braces, so one pass finds them all. */
const mark = /\{\{([^{}]*)\}\}/g
const word =
  /"(?:[^"\\]|\\.)*"|'[^']*'|\|\s*([A-Za-z_][\w-]*)|([A-Za-z_][\w-]*(?:\.[A-Za-z0-9_-]+|\[\s*(?:"[^"]*"|'[^']*'|\d+)\s*\])*)/g

/**
 * Searches the raw source text, so that ranges are exact; expressions behind escapes of a quoted text are not
 * found.
 */
export function templateMarks(
  text: string,
  { range: [start, end], value }: YamlScalar,
): readonly TemplateMark[] {
  return [...text.slice(start, end).matchAll(mark)].map((found) => {
    const from = start + found.index
    const references: Word[] = []
    const filters: Word[] = []
    for (const part of (found[1] ?? '').matchAll(word)) {
      const said = part[1] ?? part[2]
      if (said === undefined) continue
      const at = from + 2 + part.index + part[0].length - said.length
      ;(part[1] === undefined ? references : filters).push({ text: said, range: [at, at + said.length] })
    }
    const whole = value === found[0]
    return { range: [from, from + found[0].length], whole, references, filters }
  })
}

/** Splits a reference into parts: `steps["a b"].output` gives `steps`, `a b`, `output`. */
export function splitReference(reference: string): readonly string[] {
  return [...reference.matchAll(/\[\s*(?:"([^"]*)"|'([^']*)'|(\d+))\s*\]|([^.[\]]+)/g)].map(
    ([, double, single, index, plain]) => double ?? single ?? index ?? plain ?? '',
  )
}
