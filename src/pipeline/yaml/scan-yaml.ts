/**
 * Pre-scans YAML text token by token, without recursion, so that no file can make the parser recurse too
 * deeply or run too long. Also collects the comments.
 */
import { Lexer } from 'yaml'
import type { TextRange } from '../../base/errors/issue.ts'
import type { Finding, Source } from '../text/source.ts'

export const yamlLimits = {
  /** Bytes of one file. */
  bytes: 256 * 1024,
  /** Nesting depth of lists and maps. */
  depth: 64,
  /** Characters of one line. */
  lineLength: 100_000,
  /** Total number of values, counting each alias with everything it expands to. */
  nodes: 50_000,
  /** Words, signs, spaces and line breaks: parse time grows with their number. */
  tokens: 100_000,
} as const

export interface YamlComment {
  /** From the `#` to the end of the line. */
  readonly range: TextRange
  readonly text: string
}

/** Returns the comments, or the first limit that the text exceeds. */
export function scanYaml(
  source: Source,
): { readonly comments: readonly YamlComment[] } | { readonly finding: Finding } {
  const refused = longLine(source) ?? controlCharacter(source)
  if (refused) return { finding: refused }
  const comments: YamlComment[] = []
  let at = 0
  let count = 0
  let flow = 0
  let lineStart = 0
  let lineIsBlank = true
  // Columns of the open blocks.
  const open: number[] = []
  const begin = (column: number) => {
    while ((open.at(-1) ?? -1) >= column) open.pop()
    open.push(column)
  }
  for (const token of new Lexer().lex(source.text)) {
    // The lexer emits marker tokens, which are not part of the text.
    if (marks.has(token)) continue
    if (++count > yamlLimits.tokens) return { finding: tooMany([at, at + 1]) }
    const [first] = token
    // YAML has few directives, and the parser warns about each unknown one: reject late ones.
    if (first === '%' && lineIsBlank && count > 32) return { finding: lateDirective([at, at + 1]) }
    if (first === '\n' || first === '\r') {
      lineStart = at + token.length
      lineIsBlank = true
    } else if (first === '#') comments.push({ range: [at, at + token.length], text: token })
    else if (token.trim() !== '') {
      if (flow === 0 && (lineIsBlank || token === '-' || token === '?')) begin(at - lineStart)
      lineIsBlank = false
      if (token === '[' || token === '{') flow++
      if (token === ']' || token === '}') flow = Math.max(0, flow - 1)
      if (open.length + flow > yamlLimits.depth) return { finding: tooDeep([at, at + 1]) }
      // A multi-line text is one token; the next token is on its last line.
      const lastBreak = Math.max(token.lastIndexOf('\n'), token.lastIndexOf('\r'))
      if (lastBreak >= 0) {
        lineStart = at + lastBreak + 1
        lineIsBlank = lastBreak === token.length - 1
      }
    }
    at += token.length
  }
  return { comments }
}

/**
 * Markers of the lexer: start of a document, end of flow, start of a scalar. Text with these characters is
 * rejected earlier.
 */
const marks = new Set(['\u0002', '\u0018', '\u001f'])

function longLine({ text, lineStarts }: Source): Finding | undefined {
  const line = lineStarts.findIndex(
    (start, index) => (lineStarts[index + 1] ?? text.length) - start > yamlLimits.lineLength,
  )
  if (line < 0) return undefined
  const start = lineStarts[line] ?? 0
  return {
    code: 'pipeline/limit',
    range: [start, start + 1],
    message: `line ${line + 1} has more than ${yamlLimits.lineLength} characters`,
    hint: 'Put long texts into a file of their own (from_file), or break the line',
  }
}

function controlCharacter({ text }: Source): Finding | undefined {
  const found = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.exec(text)
  if (!found) return undefined
  const code = found[0].charCodeAt(0).toString(16).padStart(4, '0')
  return {
    code: 'pipeline/yaml',
    range: [found.index, found.index + 1],
    message: `the control character U+${code.toUpperCase()} is not allowed in YAML`,
    hint: 'Remove it, or write it as an escape in a text with double quotes',
  }
}

function tooMany(range: TextRange): Finding {
  return {
    code: 'pipeline/limit',
    range,
    message: `the file has more than ${yamlLimits.tokens} words and signs`,
    hint: 'Move parts of it into files of their own and import them',
  }
}

function lateDirective(range: TextRange): Finding {
  return {
    code: 'pipeline/yaml',
    range,
    message: 'a line cannot begin with % here',
    hint: 'Put the text in quotes; directives belong on the first lines',
  }
}

function tooDeep(range: TextRange): Finding {
  return {
    code: 'pipeline/limit',
    range,
    message: `lists and maps are nested more than ${yamlLimits.depth} deep`,
    hint: 'Nest less; parts of a pipeline can be imported from files of their own',
  }
}
