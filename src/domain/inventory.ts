/** The capabilities of the marketing flows as registrations; whoever runs them adds how they are called (`settings`). */
import type { Capability } from './capability.ts'

/** Registrations as an agent would send them; `parseCapability` makes capabilities of them. */
export type Registration = Pick<Capability, 'capabilityId' | 'inputContract' | 'outputContract'> &
  Partial<Capability>

const common = {
  version: '1.0.0',
  kind: 'model',
  cost: { tier: 'standard' },
  heartbeat: { intervalSeconds: 300 },
} as const

export const marketingCapabilities: readonly Registration[] = [
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
