/** Quality assurance tools without a model: score copy by a rubric, and escalate failing findings to a person. */

import type { Json } from '../../base/json.ts'
import { type DefinedCapability, defineLater } from '../../domain/capability/define-capability.ts'
import { type Brief, checkTable, isCheck, type Variant } from './copy-scores.ts'
import { marketingFacets } from './facets.ts'

/** Default threshold of a check. */
const usualThreshold = 0.6

interface Rubric {
  readonly checks: readonly string[]
  readonly thresholds?: { readonly [check: string]: number }
}

interface Findings {
  readonly scores: { readonly [check: string]: number }
  readonly issues: readonly string[]
  readonly overallStatus: 'pass' | 'needs_revision' | 'fail'
  readonly overallScore: number
}

type Severity = 'low' | 'medium' | 'high' | 'critical'

export const scoreCopy: DefinedCapability = defineLater({
  capabilityId: 'qa_score_copy',
  version: '1.0.0',
  displayName: 'Score copy',
  summary: 'Scores drafts by the checks of a rubric and says what to change, the most severe first.',
  nodeKind: 'validation',
  inputContract: ['copyVariants', 'writerBrief', 'qaRubric'],
  outputContract: ['qaFindings', 'recommendationSet'],
  idempotent: true,
  inputTraits: { languages: ['en'], strengths: Object.keys(checkTable) },
  run(inputs) {
    // The engine has validated the inputs against the facets.
    const given = inputs as unknown as { copyVariants: Variant[]; writerBrief: Brief; qaRubric: Rubric }
    const { copyVariants, writerBrief, qaRubric } = given
    const rows = [...new Set(qaRubric.checks)].filter(isCheck).map((check) => {
      const threshold = qaRubric.thresholds?.[check] ?? usualThreshold
      return { check, threshold, ...checkTable[check](copyVariants, writerBrief) }
    })
    const failed = rows.filter(({ score, threshold }) => score < threshold)
    const mean = rows.reduce((sum, { score }) => sum + score, 0) / Math.max(rows.length, 1)
    const qaFindings: Findings = {
      scores: Object.fromEntries(rows.map(({ check, score }) => [check, score])),
      issues: rows.flatMap(({ check, findings }) => findings.map((finding) => `${check}: ${finding}`)),
      overallStatus: failed.some(({ check }) => check === 'policy_risk')
        ? 'fail'
        : failed.length > 0
          ? 'needs_revision'
          : 'pass',
      overallScore: rows.length === 0 ? 0 : Math.round(mean * 100) / 100,
    }
    const recommendationSet = rows
      .flatMap(({ check, score, threshold, findings }) =>
        findings.map((finding) => ({
          severity: severityOf(check, score, threshold),
          recommendation: `Fix this: ${finding}`,
          rationale: `${check} is ${score}, the threshold is ${threshold}`,
        })),
      )
      .sort((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity))
    return { qaFindings: { ...qaFindings, issues: [...qaFindings.issues] }, recommendationSet }
  },
})

const severities: readonly Severity[] = ['low', 'medium', 'high', 'critical']

function severityOf(check: string, score: number, threshold: number): Severity {
  if (score >= threshold) return 'low'
  if (check === 'policy_risk') return 'critical'
  return threshold - score > 0.3 ? 'high' : 'medium'
}

const [qaFindingsFacet] = marketingFacets.filter(({ name }) => name === 'qaFindings')
const findingsSide = {
  type: 'object',
  properties: { qaFindings: qaFindingsFacet?.schema ?? {} },
  required: ['qaFindings'],
}

/**
 * Escalates findings to a person. Wherever a plan uses this tool, it is under a RAO contract and answers with an envelope:
 * the engine asks about findings that do not pass and continues by itself with the others.
 */
export const escalate: DefinedCapability = defineLater({
  capabilityId: 'hitl_escalate',
  version: '1.0.0',
  displayName: 'Escalate to a person',
  summary: 'Escalates findings that do not pass to a person; passes the others.',
  nodeKind: 'validation',
  inputContract: findingsSide,
  outputContract: findingsSide,
  rao: {},
  idempotent: true,
  run(inputs) {
    const { qaFindings } = inputs as unknown as { qaFindings: Findings }
    const passes = qaFindings.overallStatus === 'pass'
    return {
      primary_output: JSON.stringify({ qaFindings } as unknown as Json),
      // The findings were counted, so confidence is certain.
      confidence: 1,
      confidence_type: 'calibrated',
      escalate: !passes,
      reasoning: passes ? 'Every check passes' : qaFindings.issues.join('; ').slice(0, 2_000),
    }
  },
})
