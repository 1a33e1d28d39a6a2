/** Tools for marketing flows that need no model (FLEX-103). Pass them to `createApp` as capabilities. */
import type { DefinedCapability } from '../../domain/capability/define-capability.ts'
import { escalate, scoreCopy } from './quality-tools.ts'
import { analyzeAssets, planKnobs } from './strategy-tools.ts'

/**
 * @example
 * await createApp({ facets: marketing.facets, capabilities: [...marketing.capabilities, ...marketingTools] })
 */
export const marketingTools: readonly DefinedCapability[] = [analyzeAssets, planKnobs, scoreCopy, escalate]
