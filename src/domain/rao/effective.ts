/**
 * Which RAO contract an answer is under. A contract may be stated by the node, by policies of the caller and by the
 * capability that does the work. All that apply are merged: no statement can loosen another.
 */
import {
  isRaoError,
  type RaoContract,
  type RaoError,
  readRaoContract,
  type Thresholds,
} from './rao-contract.ts'

/** A contract that a policy or a capability brings to a node, worked out by the proof. */
export interface AppliedContract {
  /** `policy:<id>` or `capability:<id>`. */
  readonly from: string
  /** It applies to answers of this capability: the node's own or an alternate. */
  readonly capabilityId: string
  readonly contract: RaoContract
}

export interface EffectiveContract extends RaoContract {
  /** Where it comes from, in order of precedence: `node`, `policy:<id>`, `capability:<id>`. */
  readonly from: readonly string[]
}

interface ContractHolder {
  readonly data?: unknown
  /** Highest precedence first. */
  readonly rao?: readonly AppliedContract[]
}

/** The contract that answers of a capability are under at a node; `undefined` where there is none. */
export function findRaoContract(
  node: ContractHolder,
  capabilityId: string,
): EffectiveContract | RaoError | undefined {
  const own = readRaoContract(node.data)
  if (isRaoError(own)) return own
  const applied = (node.rao ?? []).filter((each) => each.capabilityId === capabilityId)
  const all = [...(own ? [{ from: 'node', contract: own }] : []), ...applied]
  return all.length === 0 ? undefined : mergeContracts(all)
}

/**
 * Each threshold is the highest of all contracts, defaults included, so that the result is at least as strict as each of
 * them (and ordered, because each of them is); time is the shortest. Of the rest, the first that states it counts.
 */
function mergeContracts(
  all: readonly { readonly from: string; readonly contract: RaoContract }[],
): EffectiveContract {
  const contracts = all.map(({ contract }) => contract)
  const highest = (name: keyof Thresholds) => Math.max(...contracts.map(({ thresholds }) => thresholds[name]))
  const times = contracts.flatMap(({ maxInferenceMs }) => maxInferenceMs ?? [])
  const confidenceType = contracts.find((each) => each.confidenceType !== undefined)?.confidenceType
  return {
    contractVersion: contracts[0]?.contractVersion ?? '',
    thresholds: {
      autoApproveAbove: highest('autoApproveAbove'),
      reviewLow: highest('reviewLow'),
      reviewHigh: highest('reviewHigh'),
      suppressBelow: highest('suppressBelow'),
    },
    ...(confidenceType !== undefined && { confidenceType }),
    ...(times.length > 0 && { maxInferenceMs: Math.min(...times) }),
    from: all.map(({ from }) => from),
  }
}
