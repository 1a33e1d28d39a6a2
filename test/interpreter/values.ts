/** What the world of a case answers: shared by the interpreter and by the capabilities that the real run calls. */
import { mix } from '../sim/random.ts'
import type { CaseNode } from './cases.ts'

export type Values = { readonly [name: string]: string | number }

/** The output of a capability for its inputs, as every one of its attempts gives it. */
export function outputOf(node: CaseNode, capabilityId: string, inputs: Values): Values {
  const names = Object.keys(inputs).sort()
  const number = mix(capabilityId, ...names.flatMap((name) => [name, String(inputs[name])]))
  return { [`v${node.key}`]: number.toString(36), [`s${node.key}`]: number % 10 }
}

/** What a person puts in the place of a node's output. */
export function editedOutput(node: CaseNode): Values {
  return { [`v${node.key}`]: 'edited', [`s${node.key}`]: 3 }
}

export function capabilityId(node: CaseNode, candidate: number): string {
  return `${node.id}.c${candidate}`
}
