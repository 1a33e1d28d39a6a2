/** Where the keys of a TOML text stand: the parser says what is in it, this says on which line. */
import type { Span } from '../../base/issue.ts'

/** Spans of keys by their dotted names; of a table, that of its header. */
export function tomlPlaces(text: string): ReadonlyMap<string, Span> {
  const places = new Map<string, Span>()
  let table: readonly string[] = []
  let fence = ''
  let offset = 0
  for (const line of text.split('\n')) {
    const start = offset
    offset += line.length + 1
    if (fence !== '') {
      if (line.includes(fence)) fence = ''
      continue
    }
    const header = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?/.exec(line)
    const pair = /^(\s*)((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=/.exec(line)
    if (header?.[1] !== undefined) {
      table = namesIn(header[1])
      places.set(table.join('.'), [start, start + line.trimEnd().length])
    } else if (pair?.[2] !== undefined) {
      const at = start + (pair[1]?.length ?? 0)
      places.set([...table, ...namesIn(pair[2])].join('.'), [at, start + line.trimEnd().length])
    }
    const value = line.slice(line.indexOf('=') + 1)
    for (const mark of ['"""', "'''"]) if (value.split(mark).length === 2) fence = mark
  }
  return places
}

function namesIn(dotted: string): string[] {
  return (dotted.match(/"[^"]*"|'[^']*'|[\w-]+/g) ?? []).map((name) => name.replace(/^["']|["']$/g, ''))
}

/** The place of a key, or of the nearest table around it. */
export function placeOf(places: ReadonlyMap<string, Span>, path: readonly string[]): Span {
  for (let length = path.length; length > 0; length--) {
    const found = places.get(path.slice(0, length).join('.'))
    if (found) return found
  }
  return [0, 0]
}
