/** Reads the programs of a page, each with what the page says that it prints. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support.ts'

export interface PageProgram {
  readonly page: string
  readonly language: string
  readonly code: string
  /** From its first comment, such as `read.ts`; else from the name of the page and its position. */
  readonly file: string
  /** The blocks of text between this program and the next one; without any, the comment `// Prints:` at its end. */
  readonly prints: readonly string[]
}

export function readPrograms(page: string): readonly PageProgram[] {
  const blocks = [
    ...readFileSync(join(root, page), 'utf8').matchAll(/^```(ts|python|text)\n([\s\S]*?)^```$/gm),
  ]
  const starts = blocks.flatMap(([, language], at) => (language === 'text' ? [] : [at]))
  return starts.map((start, index) => {
    const [, language = '', code = ''] = blocks[start]!
    const texts = blocks.slice(start + 1, starts[index + 1] ?? blocks.length).map(([, , text = '']) => text)
    const [, named] = /^(?:\/\/|#) (\S+\.(?:ts|py))\n/.exec(code) ?? []
    const [, comment] = /\n\/\/ Prints:\n([\s\S]*)$/.exec(code) ?? []
    return {
      page,
      language,
      code,
      file: named ?? `${page.replace(/\.md$/, '').replaceAll(/\W+/g, '-')}-${index + 1}.ts`,
      prints: texts.length > 0 || comment === undefined ? texts : [comment.replaceAll(/^\/\/ ?/gm, '')],
    }
  })
}

/** As compared: without the spaces at the ends of lines, which pages do not show. */
export function trimLines(text: string): string {
  return text.replaceAll(/ +$/gm, '').trimEnd()
}
