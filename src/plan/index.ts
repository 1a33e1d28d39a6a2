/** The door to proofs: `import { prove } from 'proviso/plan'`. */
export {
  type CompiledContract,
  type ContractRequest,
  compileContract,
  type FacetIssue,
} from './compile-contract.ts'
export { type FindingCode, findingTable } from './findings.ts'
export { planLimits } from './obligations/size.ts'
export { type ProveResult, prove } from './prove.ts'
export type { ProveRequest } from './request.ts'
