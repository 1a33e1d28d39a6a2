/** Maps and loops, from docs/reference/plan.md ("Maps and loops"). */
import type { CaseNode, Value } from '../case.ts'
import type { Values } from '../values.ts'
import { atMost, joinLogs, type Log, type NodeEnd, nothingDone } from './expected.ts'

/** What one item or round brings. */
export interface Yielded {
  readonly failed: boolean
  readonly v: Value
  readonly s: Value
  readonly logs: readonly Log[]
}

/** Works out one item or round, called `[0]` or `#1`, from what it is given. */
export type Work = (body: { readonly address: string; readonly supplied: Values }) => Yielded

export function iterate(node: CaseNode, inputs: Values, work: Work): NodeEnd {
  return node.role === 'map' ? runMap(node, inputs, work) : runLoop(node, inputs, work)
}

/** The list of what the items yield, in their order. A longer list than allowed fails before the first of them. */
function runMap({ iteration }: CaseNode, inputs: Values, work: Work): NodeEnd {
  const { most, onItemFail } = iteration!
  const { items, ...others } = inputs
  const list = items as readonly Value[]
  if (list.length > most) return { ...nothingDone, status: 'failed' }
  const results = list.map((item, index) =>
    work({ address: `[${index}]`, supplied: { ...others, item, index } }),
  )
  const log = joinLogs(results.flatMap(({ logs, failed }) => (failed ? logs.map(atMost) : logs)))
  // The first failure ends the map: of the other items it depends on who was faster how far they come.
  if (onItemFail === 'fail' && results.some(({ failed }) => failed))
    return { ...atMost(log), status: 'failed' }
  const output = results.flatMap(({ failed, v }): Value[] => {
    if (onItemFail === 'collect') return [failed ? { status: 'failed' } : { status: 'completed', value: v }]
    return failed ? [] : [v]
  })
  return { ...log, status: 'completed', output }
}

/** Round after round until the state is good enough. */
function runLoop({ iteration }: CaseNode, inputs: Values, work: Work): NodeEnd {
  const { most, untilScore, onMaxRounds } = iteration!
  const { state, ...others } = inputs
  let current = state as { readonly v: Value; readonly s: Value }
  const logs: Log[] = []
  for (let round = 1; round <= most; round++) {
    const {
      failed,
      v,
      s,
      logs: done,
    } = work({
      address: `#${round}`,
      supplied: { ...others, state: current, round },
    })
    if (failed) return { ...joinLogs([...logs, ...done.map(atMost)]), status: 'failed' }
    logs.push(...done)
    current = { v, s }
    if (untilScore !== undefined && (s as number) >= untilScore) break
    if (round === most && untilScore !== undefined && onMaxRounds === 'fail')
      return { ...joinLogs(logs), status: 'failed' }
  }
  return { ...joinLogs(logs), status: 'completed', output: current }
}
