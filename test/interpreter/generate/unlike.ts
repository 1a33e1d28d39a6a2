/** Alternates whose contracts are not those of the node. */
import { type Random, randomFor } from '../../sim/random.ts'
import type { CaseNode, Script, Unlike } from '../case.ts'

/** Gives about half of the alternates contracts of their own, those in bodies included. */
export function withUnlike(seed: number, nodes: readonly CaseNode[]): CaseNode[] {
  return nodes.map((node) => {
    const { iteration } = node
    const inner = iteration && {
      iteration: { ...iteration, body: { ...iteration.body, nodes: withUnlike(seed, iteration.body.nodes) } },
    }
    return {
      ...node,
      ...inner,
      scripts: node.scripts.map((script, nth) => ownContract(seed, node, { script, nth })),
    }
  })
}

function ownContract(seed: number, node: CaseNode, { script, nth }: { script: Script; nth: number }): Script {
  const random = randomFor(seed, 'unlike', node.id, nth)
  if (nth === 0 || !random.chance(0.5)) return script
  const unlike: Unlike = {
    ...(random.chance(0.6) && inputOf(random, node)),
    ...(random.chance(0.6) && {
      output: { least: random.between(1, 8), by: random.pick(['schema', 'condition'] as const) },
    }),
    ...(random.chance(0.1) && { never: random.pick(['input', 'output'] as const) }),
  }
  return { ...script, unlike }
}

function inputOf(random: Random, { inputs }: CaseNode): Pick<Unlike, 'input'> {
  const index = random.int(Math.max(inputs.length, 1))
  const type = inputs[index]?.type
  if (type === undefined || type === 'list') return {}
  return { input: { index, ...(type === 's' && random.chance(0.8) && { least: random.between(1, 9) }) } }
}
