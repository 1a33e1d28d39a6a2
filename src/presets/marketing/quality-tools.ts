/** Quality assurance tools without a model: score copy by a rubric, and escalate failing findings to a person. */
import type { Json } from '../../base/json.ts'
import { type DefinedCapability, defineLater } from '../../domain/capability/define-capability.ts'
import { marketingFacets } from './facets.ts'

// Scores copy from 0 to 1 by counting: deterministic, and with findings that explain the score.

interface Variant {
  readonly headline: string
  readonly body: string
  readonly callToAction: string
}

interface Brief {
  readonly angle: string
  readonly keyPoints: readonly string[]
  readonly constraints?: readonly string[]
}

interface Score {
  readonly score: number
  /** Findings; empty for a text without any. */
  readonly findings: readonly string[]
}

type Check = (variants: readonly Variant[], brief: Brief) => Score

/** One row per check of a rubric. Each variant is scored, and the lowest score counts. */
const checkTable = {
  readability: (variants) => worst(variants, readability),
  clarity: (variants) => worst(variants, clarity),
  objective_fit: (variants, brief) => worst(variants, (variant) => objectiveFit(variant, brief)),
  policy_risk: (variants, brief) => worst(variants, (variant) => policyRisk(variant, brief)),
} as const satisfies Record<string, Check>

type CheckName = keyof typeof checkTable

function isCheck(name: string): name is CheckName {
  return Object.hasOwn(checkTable, name)
}

/** Sentences of up to 16 words and words of up to 6 letters on average score 1; twice as much scores 0. */
function readability(variant: Variant): Score {
  const sentences = splitSentences(variant.body)
  const words = splitWords(variant.body)
  if (words.length === 0) return { score: 0, findings: ['the body is empty'] }
  const perSentence = words.length / Math.max(sentences.length, 1)
  const perWord = words.join('').length / words.length
  const score = 1 - Math.max(excess(perSentence, 16), excess(perWord, 6))
  const long = sentences.filter((sentence) => splitWords(sentence).length > 30)
  return {
    score: rounded(score),
    findings: long.map((sentence) => `a sentence of more than 30 words: "${cut(sentence)}"`),
  }
}

const filler =
  /\b(very|really|basically|actually|just|quite|simply|leverage|synergy|utili[sz]e|solutions?)\b/gi

/** Filler words and a missing call to action lower the score. */
function clarity(variant: Variant): Score {
  const text = toText(variant)
  const empty = text.match(filler) ?? []
  const findings = empty.map((word) => `the word "${word.toLowerCase()}" is filler`)
  if (variant.callToAction.trim() === '') findings.push('there is no call to action')
  if (variant.headline.trim() === '') findings.push('there is no headline')
  const share = empty.length / Math.max(splitWords(text).length, 1)
  const gaps = [variant.callToAction, variant.headline].filter((part) => part.trim() === '').length
  return { score: rounded(1 - share * 5 - gaps * 0.4), findings: [...new Set(findings)] }
}

/** Returns the share of covered key points: at least half of the significant words of each must occur. */
function objectiveFit(variant: Variant, { keyPoints }: Brief): Score {
  const said = new Set(splitWords(toText(variant)).map(stem))
  const missed = keyPoints.filter((point) => {
    const significant = splitWords(point)
      .filter((word) => word.length > 3)
      .map(stem)
    const found = significant.filter((word) => said.has(word)).length
    return significant.length > 0 && found < significant.length / 2
  })
  return {
    score: rounded(1 - missed.length / Math.max(keyPoints.length, 1)),
    findings: missed.map((point) => `the key point "${cut(point)}" is not covered`),
  }
}

const riskyClaims =
  /\b(guarantee[ds]?|risk[- ]free|100 ?%|no risk|cures?|miracle|best in the world|double your money|act now or)\b/gi

/** Finds claims that cannot be kept, and phrases the brief forbids ("no …", "avoid …", "never …"); 1 means no risk. */
function policyRisk(variant: Variant, { constraints = [] }: Brief): Score {
  const text = toText(variant)
  const claims = (text.match(riskyClaims) ?? []).map((claim) => `the claim "${claim.toLowerCase()}"`)
  const lower = text.toLowerCase()
  const broken = constraints.flatMap((constraint) => {
    const [, forbidden = ''] =
      /^(?:no|avoid|never(?: mention| say)?)\s+(.{3,80})$/i.exec(constraint.trim()) ?? []
    const words = forbidden.toLowerCase().replace(/[.!]$/, '')
    return words !== '' && lower.includes(words) ? [`the brief forbids "${words}"`] : []
  })
  const findings = [...new Set([...claims, ...broken])]
  return { score: rounded(1 - findings.length * 0.5), findings }
}

function worst(variants: readonly Variant[], score: (variant: Variant) => Score): Score {
  if (variants.length === 0) return { score: 0, findings: ['there is no variant'] }
  const scores = variants.map((variant, index) => {
    const one = score(variant)
    return { ...one, findings: one.findings.map((finding) => `variant ${index + 1}: ${finding}`) }
  })
  return {
    score: Math.min(...scores.map((one) => one.score)),
    findings: scores.flatMap(({ findings }) => findings),
  }
}

/** Returns the excess over a limit as a share of it, between 0 and 1. */
function excess(value: number, limit: number): number {
  return Math.min(Math.max(value / limit - 1, 0), 1)
}

function rounded(score: number): number {
  return Math.round(Math.min(Math.max(score, 0), 1) * 100) / 100
}

function toText({ headline, body, callToAction }: Variant): string {
  return `${headline}. ${body} ${callToAction}`
}

function splitSentences(text: string): string[] {
  return text.split(/[.!?]+(?:\s|$)/).filter((sentence) => sentence.trim() !== '')
}

function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? []
}

/** Removes word endings, so that inflected forms match. */
function stem(word: string): string {
  return word.replace(/(?:ing|ed|es|s)$/, '')
}

function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

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
          severity: getSeverity(check, score, threshold),
          recommendation: `Fix this: ${finding}`,
          rationale: `${check} is ${score}, the threshold is ${threshold}`,
        })),
      )
      .sort((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity))
    return { qaFindings: { ...qaFindings, issues: [...qaFindings.issues] }, recommendationSet }
  },
})

const severities: readonly Severity[] = ['low', 'medium', 'high', 'critical']

function getSeverity(check: string, score: number, threshold: number): Severity {
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
