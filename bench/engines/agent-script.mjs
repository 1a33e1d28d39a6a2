/** The same agent for every engine: so many turns with one call each, then the answer. The model and the tool cost nothing. */

export const callCount = 20

export const answer = { text: 'done' }

export const instructions = 'Count, one call at a time.'

/** What the model does in a turn, by the number of turns before it. */
export function scriptedTurn(turn) {
  return turn < callCount ? { name: 'count', input: { n: turn } } : undefined
}

/** What the tool does. */
export function count({ n }) {
  return { n: n + 1 }
}
