/** Entry point `proviso/presets/marketing`: facets, agents and tools for marketing flows. A catalog has them only if they are passed to it. */
import { type DefinedCapability, defineCapability } from '../../domain/capability/define-capability.ts'
import type { Capability } from '../../domain/capability.ts'
import type { Facet } from '../../domain/facet.ts'
import { marketingFacets } from './facets.ts'
import { escalate, scoreCopy } from './quality-tools.ts'
import { analyzeAssets, planKnobs } from './strategy-tools.ts'

// The three agents: their registrations, and the same as capabilities with instructions for a model.

/** A registration as an agent would send it; `parseCapability` turns it into a capability. */
export type Registration = Pick<Capability, 'capabilityId' | 'inputContract' | 'outputContract'> &
  Partial<Capability>

const common = {
  version: '1.0.0',
  kind: 'model',
  cost: { tier: 'standard' },
  heartbeat: { intervalSeconds: 300 },
} as const

export const marketingRegistrations: readonly Registration[] = [
  {
    ...common,
    capabilityId: 'StrategyManagerAgent.briefing',
    displayName: 'Strategy Manager',
    summary: 'Plans rationale, writer brief, and knob configuration with asset analysis support.',
    nodeKind: 'structuring',
    inputContract: ['objectiveBrief', 'audienceProfile', 'toneOfVoice', 'assetBundle'],
    outputContract: ['writerBrief', 'planKnobs', 'strategicRationale'],
    inputTraits: { languages: ['en'], strengths: ['strategy', 'asset_analysis'] },
  },
  {
    ...common,
    capabilityId: 'ContentGeneratorAgent.linkedinVariants',
    displayName: 'Copywriter – LinkedIn Variants',
    summary: 'Generates 1–5 LinkedIn-ready variants with platform optimisations.',
    nodeKind: 'execution',
    inputContract: ['writerBrief', 'planKnobs', 'toneOfVoice', 'audienceProfile'],
    outputContract: ['copyVariants'],
    inputTraits: { languages: ['en'], formats: ['linkedin_post'], strengths: ['brand_voice_alignment'] },
    postConditions: [{ between: [{ var: 'copyVariants.length' }, 1, 5] }],
  },
  {
    ...common,
    capabilityId: 'QualityAssuranceAgent.contentReview',
    displayName: 'Quality Assurance',
    summary:
      'Scores drafts for readability, clarity, objective fit, and policy risk; normalises recommendations.',
    nodeKind: 'validation',
    inputContract: ['copyVariants', 'writerBrief', 'qaRubric'],
    outputContract: ['qaFindings', 'recommendationSet'],
    inputTraits: { languages: ['en'], strengths: ['readability', 'clarity', 'objective_fit', 'policy_risk'] },
  },
]

/** System prompts for models that act as one of the agents, by capability id. */
const instructions: Readonly<Record<string, string>> = {
  'StrategyManagerAgent.briefing':
    'You are a strategy manager for marketing. Read the objective, the audience, the tone and the assets. Choose one angle that the assets support, list the key points a writer must cover and the constraints to keep, set the knobs (number of variants, focus of the call to action, length), and say why the strategy works and what could go wrong. Claim nothing that the inputs do not support.',
  'ContentGeneratorAgent.linkedinVariants':
    'You are a copywriter for LinkedIn. Write as many variants as the knobs ask for, at least one and at most five. Each has a headline of one line, a body of short paragraphs that opens with a hook and covers every key point of the brief, and one call to action. Keep the tone and write for the audience. Variants differ in angle, not only in wording.',
  'QualityAssuranceAgent.contentReview':
    'You are a reviewer of marketing copy. Check every variant against the brief and exactly the checks of the rubric; without a rubric check readability, clarity, objective fit and policy risk. Score each check from 0 to 1, list every issue, give an overall score and status, and recommend changes, the most severe first.',
}

/** The agents as capabilities of this process, executed by a model. */
export const marketingCapabilities: readonly DefinedCapability[] = marketingRegistrations.map(
  (registration) =>
    defineCapability({
      ...registration,
      idempotent: true,
      settings: { instructions: instructions[registration.capabilityId] ?? '' },
    }),
)

export { marketingFacets } from './facets.ts'

/**
 * Everything a catalog needs for marketing flows.
 *
 * @example
 * const app = await createApp({ ...marketing, store: 'sqlite:runs.db' })
 */
export const marketing: {
  readonly facets: readonly Facet[]
  readonly capabilities: readonly DefinedCapability[]
} = {
  facets: marketingFacets,
  capabilities: marketingCapabilities,
}

// Tools for marketing flows that need no model (FLEX-103). Pass them to `createApp` as capabilities.

/**
 * @example
 * await createApp({ facets: marketing.facets, capabilities: [...marketing.capabilities, ...marketingTools] })
 */
export const marketingTools: readonly DefinedCapability[] = [analyzeAssets, planKnobs, scoreCopy, escalate]
