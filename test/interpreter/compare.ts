/** Whether a case was played as the interpreter says. */
import { canonicalJson } from '../../src/base/canonical.ts'
import type { Json } from '../../src/base/json.ts'
import type { Case } from './cases.ts'
import { type Expected, interpret } from './interpret.ts'
import { type Played, play } from './play.ts'
import { mayBeRejected } from './scenarios.ts'

export interface Verdict {
  readonly differences: readonly string[]
  readonly expected: Expected
  readonly played: Played
  /** The prover did not accept the draft, and it may have been right. */
  readonly rejected: boolean
}

export async function tryCase(given: Case): Promise<Verdict> {
  const expected = interpret(given)
  const played = await play(given)
  const rejected = played.failure?.startsWith('plan/rejected') === true
  if (rejected) {
    const allowed = mayBeRejected(given)
    const differences = allowed ? [] : [`the draft was rejected: ${played.failure}`]
    return { differences, expected, played, rejected }
  }
  return { differences: compare(given, expected, played), expected, played, rejected }
}

function compare(given: Case, expected: Expected, played: Played): string[] {
  const differences: string[] = []
  if (played.status !== expected.status)
    differences.push(
      `status: expected ${expected.status}${expected.cause ? ` (${expected.cause})` : ''}, got ${played.status}${played.failure ? ` (${played.failure})` : ''}`,
    )
  if (expected.status === 'completed' && played.status === 'completed') {
    const [wanted, got] = [canonicalJson(expected.output as Json), canonicalJson(played.output ?? null)]
    if (wanted !== got) differences.push(`output: expected ${wanted}, got ${got}`)
  }
  differences.push(...compareCalls(given, expected, played))
  if (expected.status === 'completed' && played.status === 'completed')
    differences.push(...compareEnds(given, expected, played))
  return differences
}

/** A run that fails stops what has not begun; one that a crash or a policy interrupts calls again. */
function compareCalls(given: Case, { nodes, status }: Expected, { calls }: Played): string[] {
  const again = given.askBeforeFinish && given.decisions['final'] === 'reject'
  const interrupted = given.crashes || given.policies.length > 0 || again
  const found: string[] = []
  const expected = new Map<string, number>()
  for (const end of nodes.values())
    for (const { capabilityId, inputs, times } of end.calls)
      expected.set(`${capabilityId} ${canonicalJson(inputs as Json)}`, times)
  const made = new Map<string, number>()
  for (const { capabilityId, inputs } of calls) {
    const key = `${capabilityId} ${canonicalJson(inputs as Json)}`
    made.set(key, (made.get(key) ?? 0) + 1)
  }
  for (const [key, times] of made) {
    const wanted = expected.get(key)
    if (wanted === undefined) found.push(`called, but must not be: ${key}`)
    else if (times > wanted && !interrupted) found.push(`called ${times} times instead of ${wanted}: ${key}`)
  }
  if (status === 'completed')
    for (const [key, times] of expected) {
      const count = made.get(key) ?? 0
      if (count < times) found.push(`called ${count} times instead of ${times}: ${key}`)
    }
  return found
}

const endEvents: { readonly [type: string]: string } = {
  node_complete: 'completed',
  node_error: 'failed',
  node_skipped: 'skipped',
}

function compareEnds(given: Case, { nodes }: Expected, { journal }: Played): string[] {
  const ends = new Map<string, string>()
  for (const { type, nodeId } of journal) {
    const end = endEvents[type]
    if (end !== undefined && nodeId !== undefined) ends.set(nodeId, end)
  }
  return given.nodes.flatMap(({ id }) => {
    const [wanted, got] = [nodes.get(id)?.status, ends.get(id) ?? 'no end']
    return wanted === got ? [] : [`node ${id}: expected ${wanted}, got ${got}`]
  })
}
