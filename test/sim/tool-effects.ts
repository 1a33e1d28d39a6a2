/** What tools of agents did in the world, against the journal: once where it must be, and only as people allowed. */
import type { Envelope } from '../../src/domain/envelope.ts'
import type { JournalEvent } from '../../src/domain/event.ts'
import type { CallRef } from '../../src/domain/loop-facts.ts'
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

/** What they bring is untrusted: a page, and the answer of another model. */
const untrusted: ReadonlySet<string> = new Set(['page', 'aide'])
/** They change nothing by themselves. */
const harmless: ReadonlySet<string> = new Set(['look', 'page', 'aide', 'transfer_to_closer'])

/** A loop by its node, and the calls of agents that it is within. */
function loopOf(nodeId: string, within: CallRef['within'] = []): string {
  return [nodeId, ...within.map(({ turn, call }) => `${turn}.${call}`)].join(' ')
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
  const nameOf = (node: string, { turn, call, within }: CallRef) => {
    const loop = loopOf(node, within)
    return `${loop}\n${lineages.get(loop)}\n${turn}\n${call}`
  }
  for (const event of journal) {
    const { nodeId = '' } = event
    const isFact = /^(turn|tool)_/.test(event.type)
    const { within = [] } = isFact ? (event.payload as Partial<CallRef>) : {}
    const loop = loopOf(nodeId, within)
    if (event.type === 'turn_start') {
      const { lineage } = event.payload
      if (lineages.get(loop) !== lineage) {
        tainted.delete(loop)
        const caller = within.at(-1)
        const since = caller && tainted.get(loopOf(nodeId, within.slice(0, -1)))
        // Its arguments come from what its caller has read.
        if (caller && since !== undefined && since < caller.turn) tainted.set(loop, 0)
      }
      lineages.set(loop, lineage)
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
        calls.set(nameOf(nodeId, { turn: event.payload.turn, call, within }), {
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
    if (event.type === 'tool_end' && untrusted.has(event.payload.tool) && !tainted.has(loop))
      tainted.set(loop, event.payload.turn)
    if (event.type !== 'tool_start') continue
    const call = calls.get(nameOf(nodeId, event.payload))
    if (!call) continue
    call.key = event.payload.idempotencyKey
    if (call.isDecided || call.isGranted || harmless.has(call.tool)) continue
    if (call.tool === 'grant') yield `event ${event.seq}: "grant" was called without an approval`
    // What was called beside it was wanted before it was read.
    if ((tainted.get(loop) ?? Number.POSITIVE_INFINITY) < event.payload.turn && !mayActUnasked)
      yield `event ${event.seq}: "${call.tool}" was called after untrusted content without an approval`
  }
  for (const { tool, key = '', repetitions } of calls.values()) {
    const times = effects.get(key)?.times ?? 0
    const isOnce = tool === 'strike' || tool === 'grant'
    if (isOnce && times > 1 + repetitions)
      yield `"${tool}" took effect ${times} times, and ${repetitions} repetitions were allowed`
  }
}
