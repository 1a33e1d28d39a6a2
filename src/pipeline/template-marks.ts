/** Where the `{{ … }}` of a text stand in the source file, what they refer to and which filters they use. */
import type { Span } from '../base/issue.ts'
import type { YamlScalar } from './yaml-node.ts'

export interface TemplateMark {
  /** From the first brace to the last. */
  readonly span: Span
  /** The text is nothing else, so that it becomes the value itself and no text. */
  readonly whole: boolean
  /** What is referred to, such as `steps.write.output`, each with its place. */
  readonly references: readonly Word[]
  /** Names after `|`, each with its place. */
  readonly filters: readonly Word[]
}

export interface Word {
  readonly text: string
  readonly span: Span
}

/** Marks never hold braces, so one look over the text finds them all. */
const mark = /\{\{([^{}]*)\}\}/g
const word =
  /"(?:[^"\\]|\\.)*"|'[^']*'|\|\s*([A-Za-z_][\w-]*)|([A-Za-z_][\w-]*(?:\.[A-Za-z0-9_-]+|\[\s*(?:"[^"]*"|'[^']*'|\d+)\s*\])*)/g

/** Looked for in the text as it is written, so that places are exact; what a quoted text hides behind escapes is not seen. */
export function templateMarks(
  text: string,
  { span: [start, end], value }: YamlScalar,
): readonly TemplateMark[] {
  return [...text.slice(start, end).matchAll(mark)].map((found) => {
    const from = start + found.index
    const references: Word[] = []
    const filters: Word[] = []
    for (const part of (found[1] ?? '').matchAll(word)) {
      const said = part[1] ?? part[2]
      if (said === undefined) continue
      const at = from + 2 + part.index + part[0].length - said.length
      ;(part[1] === undefined ? references : filters).push({ text: said, span: [at, at + said.length] })
    }
    const whole = value === found[0]
    return { span: [from, from + found[0].length], whole, references, filters }
  })
}

/** The parts of a reference: `steps["a b"].output` is `steps`, `a b`, `output`. */
export function partsOf(reference: string): readonly string[] {
  return [...reference.matchAll(/\[\s*(?:"([^"]*)"|'([^']*)'|(\d+))\s*\]|([^.[\]]+)/g)].map(
    ([, double, single, index, plain]) => double ?? single ?? index ?? plain ?? '',
  )
}
