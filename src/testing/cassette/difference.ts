/** What differs between a recorded request and another one, in a few lines for people. */

type Request = { readonly [name: string]: unknown }

interface Difference {
  /** In characters; smaller is nearer. */
  readonly size: number
  readonly lines: readonly string[]
}

const mostLines = 12

export function describeDifference(recorded: Request, wanted: Request): Difference {
  const names = new Set([...Object.keys(recorded), ...Object.keys(wanted)])
  const all = [...names].map((name) => getDifference(name, toLines(recorded[name]), toLines(wanted[name])))
  const lines = all.flatMap((each) => each.lines)
  const cut =
    lines.length > mostLines
      ? [...lines.slice(0, mostLines), `… ${lines.length - mostLines} more lines`]
      : lines
  return { size: all.reduce((sum, { size }) => sum + size, 0), lines: cut }
}

function toLines(value: unknown): readonly string[] {
  if (value === undefined) return []
  return Array.isArray(value)
    ? value.map(String)
    : [typeof value === 'string' ? value : JSON.stringify(value)]
}

/** Lines that only one side has, in pairs. */
function getDifference(name: string, before: readonly string[], after: readonly string[]): Difference {
  const [gone, come] = [without(before, after), without(after, before)]
  const pairs = Array.from(
    { length: Math.max(gone.length, come.length) },
    (_, at) => [gone[at], come[at]] as const,
  )
  return {
    size: pairs.reduce((sum, [one = '', other = '']) => sum + 1 + distance(one, other), 0),
    lines: pairs.flatMap(([one, other]) => {
      const from = firstDifference(one ?? '', other ?? '')
      return [
        ...(one === undefined ? [] : [`- ${name}: ${excerpt(one, from)}`]),
        ...(other === undefined ? [] : [`+ ${name}: ${excerpt(other, from)}`]),
      ]
    }),
  }
}

function without(lines: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others]
  return lines.filter((line) => {
    const at = left.indexOf(line)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

/** Characters between the common beginning and the common end. */
function distance(one: string, other: string): number {
  const begin = firstDifference(one, other)
  const rest = [one.slice(begin), other.slice(begin)] as const
  const [back, otherBack] = rest.map((text) => [...text].reverse().join('')) as [string, string]
  return back.length + otherBack.length - 2 * firstDifference(back, otherBack)
}

function firstDifference(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

/** Long lines from a little before where they differ. */
function excerpt(line: string, from: number): string {
  const begin = Math.max(from - 40, 0)
  const shown = line.slice(begin, begin + 160)
  return `${begin > 0 ? '…' : ''}${shown}${begin + 160 < line.length ? '…' : ''}`
}
