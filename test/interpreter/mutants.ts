/** Defects of earlier versions, put back one at a time: the comparison with the interpreter must see each of them. */
import type { Mutant } from '../sim/mutants.ts'

type Defect = Omit<Mutant, 'seed'>

const graph = 'src/domain/fold-graph.ts'
const ladder = 'src/engine/ladder.ts'

export const mutants: readonly Defect[] = [
  {
    name: 'a binding activates the node that reads it',
    file: graph,
    find: "const live = edge.kind === 'control' && isLive(node, edge)",
    replace: 'const live = isLive(node, edge)',
  },
  {
    name: 'a source that was skipped skips the node, although another supplies the value',
    file: graph,
    find: 'node.needs.find(({ from }) => !from.some(',
    replace: 'node.needs.find(({ from }) => !from.every(',
  },
  {
    name: 'a node runs without a required input',
    file: graph,
    find: 'if (isActivated(node) && unmetNeed(state, node) === undefined)',
    replace: 'if (isActivated(node))',
  },
  {
    name: 'targets that no route chose run',
    file: graph,
    find: 'return chosen === undefined || chosen.includes(edge.to) || !isTarget(source.node.routing, edge.to)',
    replace: 'return true',
  },
  {
    name: 'a fallback runs after its primary succeeded',
    file: 'src/plan/edges.ts',
    find: "links.control({ from, to: node.id, when: 'fail' })",
    replace: "links.control({ from, to: node.id, when: 'always' })",
  },
  {
    name: 'the prover rejects a reader of a branch that was not taken',
    file: 'src/plan/scenarios.ts',
    find: 'return (needs.get(id) ?? []).every(({ from }) => from.some((source) => way.completed.has(source)))',
    replace: 'return needs.size >= 0',
  },
  {
    name: 'a throttled capability is called for ever',
    file: 'src/base/retry.ts',
    find: '++failures >= policy.max',
    replace: '++failures >= 40 * policy.max',
  },
  {
    name: 'a throttled capability is given up at once',
    file: 'src/base/retry.ts',
    find: '++failures >= policy.max',
    replace: '++failures >= 1',
  },
  {
    name: 'alternates are not tried after a capability that turns calls away',
    file: ladder,
    find: 'if (result.final || triedEnough.has(result.outcome)) return alternate',
    replace: 'if (triedEnough.has(result.outcome)) return undefined\n  if (result.final) return alternate',
  },
  {
    name: 'a throttled attempt is repeated as a whole',
    file: ladder,
    find: 'if (result.final || triedEnough.has(result.outcome)) return alternate',
    replace: 'if (result.final) return alternate',
  },
  {
    name: 'one retry too few',
    file: ladder,
    find: 'if (node.failures <= (retry.max ?? 0))',
    replace: 'if (node.failures < (retry.max ?? 0))',
  },
  {
    name: 'alternates are never tried',
    file: ladder,
    find: 'node.candidate < alternates.length ?',
    replace: 'node.candidate < alternates.length - 9 ?',
  },
  {
    name: 'RAO contracts of policies and capabilities guard nothing',
    file: 'src/domain/rao/effective.ts',
    find: 'each.capabilityId === capabilityId',
    replace: "each.capabilityId === ''",
  },
  {
    name: 'an operand of the wrong type decides the whole condition',
    file: 'src/engine/conditions.ts',
    find: "return parsed.ok ? verdicts[evaluate(parsed.condition, value).kind] : 'undecided'",
    replace:
      "const found = parsed.ok ? evaluate(parsed.condition, value) : undefined\n  return found && found.issue === undefined ? verdicts[found.kind] : 'undecided'",
  },
  {
    name: 'an ordering of unlike types is true',
    file: 'src/schema/condition-evaluate.ts',
    find: 'if (left === undefined || right === undefined) return false',
    replace: 'if (left === undefined || right === undefined) return true',
  },
]
