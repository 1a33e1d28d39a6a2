/** Writes a value as indented JSON, in pieces: those at the given JSON Pointers carry the innermost of them. */

export interface JsonPiece {
  readonly text: string
  readonly pointer?: string | undefined
}

export function markPointers(value: unknown, pointers: ReadonlySet<string>): readonly JsonPiece[] {
  const pieces: { text: string; pointer?: string | undefined }[] = []
  const put = (text: string, pointer: string | undefined) => {
    const last = pieces.at(-1)
    if (last && last.pointer === pointer) last.text += text
    else pieces.push({ text, ...(pointer !== undefined && { pointer }) })
  }
  const write = (part: unknown, { at, indent, inside }: Place) => {
    // The root is never marked as a whole: a repair of the whole text is listed beside it.
    const mark = at !== '' && pointers.has(at) ? at : inside
    if (part === null || typeof part !== 'object') return put(JSON.stringify(part) ?? 'null', mark)
    const isList = Array.isArray(part)
    const entries = Object.entries(part)
    if (entries.length === 0) return put(isList ? '[]' : '{}', mark)
    const inner = `${indent}  `
    put(`${isList ? '[' : '{'}\n`, mark)
    entries.forEach(([key, child], index) => {
      put(inner, mark)
      if (!isList) put(`${JSON.stringify(key)}: `, mark)
      const place = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
      write(child, { at: place, indent: inner, inside: mark })
      put(index < entries.length - 1 ? ',\n' : '\n', mark)
    })
    put(`${indent}${isList ? ']' : '}'}`, mark)
  }
  write(value, { at: '', indent: '', inside: undefined })
  return pieces
}

interface Place {
  readonly at: string
  readonly indent: string
  readonly inside: string | undefined
}
