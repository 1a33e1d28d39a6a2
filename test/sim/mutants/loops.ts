/** Mistakes in loops of agents with tools: turns, calls, approvals. They show in histories with such agents only. */
import { firstLoopSeed, firstNestedSeed } from '../scenario.ts'
import type { Mutant } from './mutant.ts'

const agent = (file: string) => `src/adapters/models/agent/${file}.ts`
const state = 'src/domain/loop/loop-state.ts'
const from = firstLoopSeed
/** Mistakes that only agents within agents show. */
const nested = firstNestedSeed

export const loopMutants: readonly Mutant[] = [
  {
    name: 'tools are started before the end of the turn is in the journal',
    file: agent('session'),
    find: 'await agentLoop.record(all)\n      for (const fact of facts) apply(fact)',
    replace:
      "const written = agentLoop.record(all)\n      if (!facts.some(({ type }) => type === 'turn_end')) await written\n      else written.catch(() => {})\n      for (const fact of facts) apply(fact)",
    from,
    seed: from,
  },
  {
    name: 'a tool with a side effect acts before its start is in the journal',
    file: agent('tool-calls'),
    find: 'if (call.start?.attempt !== own.attempt) await session.record([startFact(session, call, tool)])',
    replace: 'if (call.start?.attempt !== own.attempt) session.defer(startFact(session, call, tool))',
    from,
    seed: from,
  },
  {
    name: 'keys of calls depend on ids of the provider',
    file: state,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    find: '{ turn, call }: CallRef): string {\n  return sha256Hex(`${lineage}\\n${turn}\\n${call}`)',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    replace: '{ toolCallId }: LoopCall): string {\n  return sha256Hex(`${lineage}\\n${toolCallId}`)',
    from,
    seed: from,
  },
  {
    name: 'a decision is applied to the sibling of its call',
    file: 'src/domain/run/fold-replies.ts',
    find: 'if (call?.requestId === ask.requestId)\n    call.decision',
    replace:
      'const other = node.loop?.turns.at(-1)?.calls.find((each) => each.requestId !== undefined) ?? call\n  if (other)\n    other.decision',
    from,
    seed: from + 22,
  },
  {
    name: 'a call that has ended runs again',
    file: state,
    find: "if (end) return 'done'\n  if (asked",
    replace: "if (end && !start?.idempotent) return 'done'\n  if (asked",
    from,
    seed: from,
  },
  {
    name: 'a turn is asked again after its end',
    file: agent('take-turn'),
    find: 'if (loop && last && !last.end) return',
    replace: 'if (loop && last && (!last.end || last.end.attempt !== attempt)) return',
    from,
    seed: from,
  },
  {
    name: 'a call in doubt is repeated without asking',
    file: state,
    find: "if (start) return start.idempotent ? 'run' : afterDecision(decision)",
    replace: "if (start) return 'run'",
    from,
    seed: from + 26,
  },
  {
    name: 'an approval counts for every repetition',
    file: state,
    find: '    delete call.decision\n    delete call.requestId\n  }\n  return loop',
    replace: '  }\n  return loop',
    from,
    seed: from + 219,
  },
  {
    name: 'a call that needs an approval runs without one',
    file: state,
    find: "if (verdict === 'ask') return afterDecision(decision)",
    replace: "if (verdict === 'ask') return decision ? afterDecision(decision) : 'run'",
    from,
    seed: from,
  },
  {
    name: 'a rejected call is made',
    file: state,
    find: "    case 'edit':\n      return 'run'",
    replace: "    case 'edit':\n    case 'reject':\n      return 'run'",
    from,
    seed: from + 8,
  },
  {
    name: 'edited arguments are not used',
    file: agent('tool-calls'),
    find: "if (decision?.decision === 'edit') return decision.value ?? null",
    replace: "if (decision?.decision === 'edit') return input ?? null",
    from,
    seed: from + 6,
  },
  {
    name: 'the last result is not written with the next turn',
    file: agent('session'),
    find: 'const all = [...deferred, ...facts]',
    replace: 'const all = [...facts]',
    from,
    seed: from,
  },
  {
    name: 'results are in another order than their calls',
    file: agent('messages'),
    find: 'results: calls.map(toResult)',
    replace: 'results: calls.map(toResult).reverse()',
    from,
    seed: from,
  },
  {
    name: 'untrusted results do not count',
    file: agent('propose-calls'),
    find: 'calls.some(({ end }) => end?.untrusted)',
    replace: 'calls.some(({ end }) => end === null)',
    from,
    seed: from + 51,
  },
  {
    name: 'a turn is not in the journal before it is asked',
    file: agent('take-turn'),
    find: "await session.record([{ type: 'turn_start', payload: { ...start, requestHash } }])",
    replace: "session.defer({ type: 'turn_start', payload: { ...start, requestHash } })",
    from,
    seed: from,
  },
  {
    name: 'a grant is forgotten',
    file: 'src/engine/perform/agent-loop.ts',
    find: 'grants: [...(state.grants ?? [])]',
    replace: 'grants: []',
    from,
    seed: from + 18,
  },
  {
    name: 'a grant counts for causes that its person was not shown',
    file: agent('propose-calls'),
    find: 'isGrantable(cause) && own.find((grant) => grant.causes.includes(cause))',
    replace: 'isGrantable(cause) && own[0]',
    from,
    seed: from + 516,
  },
  {
    name: 'a grant counts for other tools',
    file: agent('propose-calls'),
    find: 'const own = granted.filter((grant) => grant.capabilityId === capabilityId)',
    replace: 'const own = [...granted].filter(() => capabilityId !== undefined)',
    from,
    seed: from,
  },
  {
    name: 'tools use more than is reserved',
    file: agent('tool-calls'),
    find: 'const budget = isBudgeted ? leftForTool(session) : undefined',
    replace: 'const budget = isBudgeted ? session.budget : undefined',
    from,
    seed: from + 7,
  },
  {
    name: 'an agent that is a tool begins anew after a crash',
    file: 'src/engine/perform/agent-loop.ts',
    find: 'const earlier = nested ? nested.state : node.loop',
    replace: 'const earlier = nested ? undefined : node.loop',
    from: nested,
    seed: nested,
  },
  {
    name: 'a decision about a call within an agent is applied to the call of its caller',
    file: state,
    find: 'return within.reduce<LoopState | undefined>((outer, each) => findCall(outer, each)?.loop, loop)',
    replace: 'return within.length > 5 ? undefined : loop',
    from: nested,
    seed: nested,
  },
  {
    name: 'an agent that is a tool does not know that its arguments are untrusted',
    file: 'src/engine/perform/agent-loop.ts',
    find: 'nested?.isTainted || needsApproval(',
    replace: 'needsApproval(',
    from: nested,
    seed: nested + 22,
  },
]
