/** The plan that every engine runs: a → b → f1…f5 → j → k → z, each node done at once. */

export const wide = ['f1', 'f2', 'f3', 'f4', 'f5']
export const nodeCount = 5 + wide.length

/** Edges by hand, for engines that want them. */
export const edges = [
  ['a', 'b'],
  ...wide.map((id) => ['b', id]),
  ...wide.map((id) => [id, 'j']),
  ['j', 'k'],
  ['k', 'z'],
]

export const nodeIds = ['a', 'b', ...wide, 'j', 'k', 'z']

/** The work of a node: none. */
export const work = (id) => ({ text: id })
