/** Whether a case was played as the interpreter says. */
import { canonicalJson } from '../../src/base/canonical.ts'
import type { Json } from '../../src/base/json.ts'
import type { Case } from './case.ts'
import { checkJournal } from './check-journal.ts'
import { replanned } from './draft.ts'
import { atMost, type Expected, joinLogs } from './oracle/expected.ts'
import { foreseeable, interpret } from './oracle/interpret.ts'
import { mayBeRejected } from './oracle/rejections.ts'
import { type Played, play } from './play/play.ts'
import { isInterrupted } from './values.ts'

export interface Verdict {
  readonly differences: readonly string[]
  readonly expected: Expected
  readonly played: Played
  /** The prover did not accept the draft, and it may have been right. */
  readonly rejected: boolean
}

export async function tryCase(drawn: Case): Promise<Verdict> {
  const given = foreseeable(drawn)
  const expected = interpret(given)
  const played = await play(given, tightest(given, expected))
  const rejected = played.failure?.startsWith('plan/rejected') === true
  if (rejected) {
    // Where the first plan orders a new one, that one may be turned down, too.
    const allowed =
      mayBeRejected(given) || (expected.earlier !== undefined && mayBeRejected(replanned(given)))
    const differences = allowed ? [] : [`the draft was rejected: ${played.failure}`]
    return { differences, expected, played, rejected }
  }
  return { differences: compare(given, expected, played), expected, played, rejected }
}

/** In some cases the run may make just as many calls as it needs. */
function tightest(given: Case, { nodes }: Expected): number | undefined {
  if (!given.tight || isInterrupted(given)) return undefined
  const cost = joinLogs([...nodes.values()]).calls.reduce((sum, call) => sum + call.cost, 0)
  return cost > 0 ? cost : undefined
}

function compare(given: Case, expected: Expected, played: Played): string[] {
  const differences: string[] = []
  const completed = expected.status === 'completed' && played.status === 'completed'
  if (played.status !== expected.status)
    differences.push(
      `status: expected ${expected.status}${expected.cause ? ` (${expected.cause})` : ''}, got ${played.status}${played.failure ? ` (${played.failure})` : ''}`,
    )
  if (completed) {
    const [wanted, got] = [canonicalJson(expected.output as Json), withoutErrors(played.output ?? null)]
    if (wanted !== got) differences.push(`output: expected ${wanted}, got ${got}`)
  }
  differences.push(...compareCalls(given, expected, played))
  if (completed) differences.push(...compareEnds(expected, played))
  if (completed && !isInterrupted(given)) differences.push(...compareWords(expected, played))
  differences.push(...checkJournal(given, played))
  return differences
}

/** What was wrong with the items that failed is not compared. */
function withoutErrors(output: Json): string {
  return canonicalJson(
    JSON.parse(JSON.stringify(output), (key, value: Json) => (key === 'error' ? undefined : value)),
  )
}

/** A run that fails stops what has not begun; one that a crash or a policy interrupts calls again. */
function compareCalls(given: Case, wanted: Expected, { calls }: Played): string[] {
  const { nodes, status, earlier = new Map() } = wanted
  const interrupted = isInterrupted(given)
  const found: string[] = []
  const expected = new Map<string, { least: number; most: number }>()
  const logs = [joinLogs([...nodes.values()]), atMost(joinLogs([...earlier.values()]))]
  for (const { address, capabilityId, inputs, least, most } of joinLogs(logs).calls) {
    const key = `${address} ${capabilityId} ${canonicalJson(inputs as Json)}`
    const before = expected.get(key) ?? { least: 0, most: 0 }
    expected.set(key, { least: before.least + least, most: before.most + most })
  }
  const made = new Map<string, number>()
  for (const { nodeId, capabilityId, inputs } of calls) {
    const key = `${nodeId} ${capabilityId} ${canonicalJson(inputs as Json)}`
    made.set(key, (made.get(key) ?? 0) + 1)
  }
  for (const [key, times] of made) {
    const wanted = expected.get(key)
    if (wanted === undefined) found.push(`called, but must not be: ${key}`)
    else if (times > wanted.most && !interrupted)
      found.push(`called ${times} times instead of ${wanted.most}: ${key}`)
  }
  if (status === 'completed')
    for (const [key, { least }] of expected) {
      const count = made.get(key) ?? 0
      if (count < least) found.push(`called ${count} times instead of ${least}: ${key}`)
    }
  return found
}

const endEvents: { readonly [type: string]: string } = {
  node_complete: 'completed',
  node_error: 'failed',
  node_skipped: 'skipped',
}

function compareEnds({ nodes }: Expected, { journal }: Played): string[] {
  const ends = new Map<string, string>()
  for (const { type, nodeId } of journal) {
    const end = endEvents[type]
    if (end !== undefined && nodeId !== undefined) ends.set(nodeId, end)
  }
  return [...nodes].flatMap(([id, { status }]) => {
    const got = ends.get(id) ?? 'no end'
    return status === got ? [] : [`node ${id}: expected ${status}, got ${got}`]
  })
}

/** What people say reaches the next attempts, and RAO decisions are facts. */
function compareWords({ nodes }: Expected, { calls, journal }: Played): string[] {
  const { noted, routes } = joinLogs([...nodes.values()])
  const found: string[] = []
  for (const address of noted) {
    const made = calls.filter(({ nodeId }) => nodeId === address)
    if (made.length > 0 && !made.at(-1)?.noted)
      found.push(`${address} does not receive what a person said of it`)
    if (made[0]?.noted) found.push(`${address} receives what a person said before anyone said it`)
  }
  const got = journal.flatMap((event) =>
    event.type === 'rao_decision' ? [`${event.nodeId} ${event.payload.decision}`] : [],
  )
  for (const { address, route, perhaps } of routes) {
    const position = got.indexOf(`${address} ${route}`)
    if (position >= 0) got.splice(position, 1)
    else if (!perhaps) found.push(`no RAO decision: ${address} ${route}`)
  }
  for (const other of got) found.push(`a RAO decision that must not be: ${other}`)
  return found
}
