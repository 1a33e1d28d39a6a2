/** The tools of the marketing flows that need no model (FLEX-103): given to `createApp`, they are capabilities like any other. */
import type { DefinedCapability } from '../../adapters/dispatchers/define-capability.ts'
import { escalate, scoreCopy } from './quality-tools.ts'
import { analyzeAssets, planKnobs } from './strategy-tools.ts'

/**
 * @example
 * await createApp({ facets: marketing.facets, capabilities: [...marketing.capabilities, ...marketingTools] })
 */
export const marketingTools: readonly DefinedCapability[] = [analyzeAssets, planKnobs, scoreCopy, escalate]
