/** How the corpus of hostile contracts is varied: by size, by depth, by the location of the trap. */

export interface HostileContract {
  readonly name: string
  readonly schema: unknown
  /** It must be refused; otherwise it may be compiled, and then validating must be quick. */
  readonly refused?: true
  /** A value that would make validating slow. */
  readonly value?: unknown
}

export type Shape = (inner: unknown) => unknown

export const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
export const record = (count: number, make: (i: number) => unknown) =>
  Object.fromEntries(times(count, (i) => [`p${i}`, make(i)]))
export const nest = (depth: number, wrap: Shape, inner: unknown = {}) =>
  times(depth, (i) => i).reduce<unknown>((held) => wrap(held), inner)

const locations: Readonly<Record<string, { schema: Shape; value: Shape }>> = {
  root: { schema: (s) => s, value: (v) => v },
  property: { schema: (s) => ({ properties: { a: s } }), value: (v) => ({ a: v }) },
  items: { schema: (s) => ({ items: { anyOf: [{ type: 'null' }, s] } }), value: (v) => [v] },
  hidden: { schema: (s) => ({ $ref: '#/x-hidden/0', 'x-hidden': [s] }), value: (v) => v },
}

export function everywhere(
  name: string,
  schema: unknown,
  more: { refused?: true; value?: unknown } = {},
): HostileContract[] {
  return Object.entries(locations).map(([location, shape]) => ({
    name: `${name} at ${location}`,
    schema: shape.schema(schema),
    ...(more.refused && { refused: true as const }),
    ...('value' in more && { value: shape.value(more.value) }),
  }))
}
