/** What tools of agents did in the world, against the journal: once where it must be, and only as people allowed. */
import type { Envelope } from '../../src/domain/envelope.ts'
import type { JournalEvent } from '../../src/domain/event.ts'
import type { Ledger } from './ledger.ts'

/** A call by its node, lineage of its loop, turn and position. */
interface Noted {
  readonly tool: string
  /** Starts of it that people have allowed although it may have been made before. */
  repetitions: number
  isDecided: boolean
  readonly causes: readonly string[]
  readonly isGranted: boolean
  key?: string
}

export function* toolEffectsAreAllowed(
  journal: readonly JournalEvent[],
  envelope: Envelope,
  { effects }: Pick<Ledger, 'effects'>,
): Iterable<string> {
  const mayActUnasked = envelope.policies.planner.directives?.sideEffects === 'allow'
  const calls = new Map<string, Noted>()
  const lineages = new Map<string, string>()
  /** The turn in which a loop first read something untrusted. */
  const tainted = new Map<string, number>()
  const asks = new Map<string, string>()
  /** Tools that people allowed for the rest of the run, by the causes they saw. */
  const granted = new Set<string>()
  /** What was granted when the attempt of a node began: from then on it counts there. */
  const known = new Map<string, ReadonlySet<string>>()
  const nameOf = (nodeId: string, { turn, call }: { readonly turn: number; readonly call: number }) =>
    `${nodeId}\n${lineages.get(nodeId)}\n${turn}\n${call}`
  for (const event of journal) {
    const { nodeId = '' } = event
    if (event.type === 'turn_start') {
      const { lineage } = event.payload
      if (lineages.get(nodeId) !== lineage) tainted.delete(nodeId)
      lineages.set(nodeId, lineage)
    }
    if (event.type === 'attempt_start') known.set(nodeId, new Set(granted))
    if (event.type === 'turn_end')
      for (const { call, tool, verdict, causes = [] } of event.payload.calls) {
        const isGranted =
          causes.length > 0 && causes.every((cause) => known.get(nodeId)?.has(`${tool} ${cause}`))
        if (verdict === 'ask' && isGranted)
          yield `event ${event.seq}: "${tool}" is asked about again, although a person has allowed it for the run`
        if (verdict === 'run' && causes.length > 0 && !isGranted)
          yield `event ${event.seq}: "${tool}" needs an approval, and no person has allowed it for the run`
        calls.set(nameOf(nodeId, { turn: event.payload.turn, call }), {
          tool,
          repetitions: 0,
          isDecided: false,
          causes,
          isGranted: verdict === 'run' && isGranted,
        })
      }
    if (event.type === 'hitl_request' && event.payload.toolCall)
      asks.set(event.payload.requestId, nameOf(nodeId, event.payload.toolCall))
    if (event.type === 'hitl_resolved') {
      const call = calls.get(asks.get(event.payload.requestId) ?? '')
      const { decision } = event.payload
      if (call && event.payload.grant) for (const cause of call.causes) granted.add(`${call.tool} ${cause}`)
      if (call && (decision === 'approve' || decision === 'edit')) {
        call.isDecided = true
        if (call.key !== undefined) call.repetitions++
      }
    }
    if (event.type === 'tool_end' && event.payload.tool === 'page' && !tainted.has(nodeId))
      tainted.set(nodeId, event.payload.turn)
    if (event.type !== 'tool_start') continue
    const call = calls.get(nameOf(nodeId, event.payload))
    if (!call) continue
    call.key = event.payload.idempotencyKey
    if (call.isDecided || call.isGranted || call.tool === 'look' || call.tool === 'page') continue
    if (call.tool === 'grant') yield `event ${event.seq}: "grant" was called without an approval`
    // What was called beside it was wanted before it was read.
    if ((tainted.get(nodeId) ?? Number.POSITIVE_INFINITY) < event.payload.turn && !mayActUnasked)
      yield `event ${event.seq}: "${call.tool}" was called after untrusted content without an approval`
  }
  for (const { tool, key = '', repetitions } of calls.values()) {
    const times = effects.get(key)?.times ?? 0
    const isOnce = tool === 'strike' || tool === 'grant'
    if (isOnce && times > 1 + repetitions)
      yield `"${tool}" took effect ${times} times, and ${repetitions} repetitions were allowed`
  }
}
