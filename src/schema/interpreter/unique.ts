/** Finds equal items of an array in linear time: each item is named by its canonical text. */

/** The indices of the last item that equals an earlier one, and of that earlier one. */
export function findEqualItems(
  items: readonly unknown[],
): { readonly i: number; readonly j: number } | undefined {
  const seen = new Map<unknown, number>()
  for (let i = 0; i < items.length; i++) {
    const name = nameOf(items[i])
    const j = seen.get(name)
    if (j !== undefined) return { i, j }
    seen.set(name, i)
  }
  return undefined
}

/** Scalars name themselves; text of a container begins with a character that marks it as such. */
function nameOf(item: unknown): unknown {
  if (typeof item === 'string') return `"${item}`
  return typeof item === 'object' && item !== null ? textOf(item) : item
}

function textOf(item: unknown): string {
  if (typeof item !== 'object' || item === null)
    return Object.is(item, -0) ? '0' : (JSON.stringify(item) ?? 'undefined')
  if (Array.isArray(item)) return `[${item.map(textOf).join(',')}]`
  const members = Object.keys(item)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${textOf(Reflect.get(item, key))}`)
  return `{${members.join(',')}}`
}
