/** What a command works with: what is wanted and how, and who can do it. */
import type { DefinedCapability } from '../app.ts'
import type { Facet } from '../domain/facet.ts'
import type { CustomStage } from '../output/index.ts'
import type { ServerSettings } from '../pipeline/index.ts'
import type { RunFile } from './read-run-file.ts'

export interface Work extends Partial<Pick<RunFile, 'envelope' | 'draft'>> {
  readonly capabilities: readonly DefinedCapability[]
  readonly facets: readonly Facet[]
  readonly stages?: readonly CustomStage[]
  /** Who drafts plans for envelopes without a draft. */
  readonly planner?: ServerSettings['planner']
  /** Keep a ledger of corrections (`correction_ledger_enabled`). */
  readonly ledger?: boolean
  /** Show the trace events of model calls while the run goes on (`telemetry.verbose`). */
  readonly verbose?: boolean
}
