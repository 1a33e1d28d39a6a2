/** Strategy tools without a model: which formats the assets allow, and the settings of a campaign. */

import { isObject, type Json, own } from '../../base/json.ts'
import { type DefinedCapability, defineLater } from '../../domain/capability/define-capability.ts'

type AssetKind = 'image' | 'video' | 'document' | 'link' | 'text'

/** Each format with the assets it needs. */
const formatTable = {
  text_post: {},
  link_post: { link: 1 },
  single_image_post: { image: 1 },
  carousel_post: { image: 2 },
  video_post: { video: 1 },
  document_post: { document: 1 },
} as const satisfies Record<string, Partial<Record<AssetKind, number>>>

/** Classifies an asset by type, URL or name; the first matching row wins. */
const kindTable: readonly (readonly [AssetKind, RegExp])[] = [
  ['image', /\bimages?\b|\bphotos?\b|\blogo\b|\.(png|jpe?g|gif|webp|svg|avif)\b/i],
  ['video', /\bvideos?\b|\bclips?\b|\.(mp4|mov|webm|m4v)\b/i],
  ['document', /\bdoc(ument)?s?\b|\bpdf\b|\bslides?\b|\bdeck\b|\.(pdf|docx?|pptx?|odt|md)\b/i],
  ['link', /\blinks?\b|\burls?\b|^https?:\/\//i],
]

const texts = { type: 'array', items: { type: 'string' } } as const

const assetAnalysis = {
  type: 'object',
  properties: {
    counts: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
    achievableFormats: { type: 'array', items: { enum: Object.keys(formatTable) }, minItems: 1 },
    missing: { type: 'object', additionalProperties: texts },
  },
  required: ['counts', 'achievableFormats', 'missing'],
  additionalProperties: false,
} as const

export const analyzeAssets: DefinedCapability = defineLater({
  capabilityId: 'strategy_analyze_assets',
  version: '1.0.0',
  displayName: 'Analyse assets',
  summary: 'Lists the formats that can be made from the given assets, and what the others lack.',
  nodeKind: 'structuring',
  inputContract: ['assetBundle'],
  outputContract: {
    type: 'object',
    properties: { assetAnalysis },
    required: ['assetAnalysis'],
    additionalProperties: false,
  },
  idempotent: true,
  inputTraits: { strengths: ['asset_analysis'] },
  run(given) {
    const inputs = given as Json
    const counts: Record<AssetKind, number> = { image: 0, video: 0, document: 0, link: 0, text: 0 }
    for (const asset of listIn(inputs, 'assetBundle')) counts[getKind(asset)]++
    const missing: Record<string, string[]> = {}
    for (const [format, needs] of Object.entries(formatTable)) {
      const lacks = Object.entries(needs).filter(([kind, count]) => counts[kind as AssetKind] < count)
      if (lacks.length > 0)
        missing[format] = lacks.map(([kind, count]) => `${count - counts[kind as AssetKind]} more ${kind}`)
    }
    const achievableFormats = Object.keys(formatTable).filter((format) => missing[format] === undefined)
    return { assetAnalysis: { counts, achievableFormats, missing } }
  },
})

/** Phrases that imply a call to action; the first matching row wins. */
const ctaTable: readonly (readonly [focus: string, words: RegExp])[] = [
  ['sign_up', /\b(sign[ -]?ups?|register|registrations?|subscribe|join|waitlist)\b/i],
  ['buy', /\b(buy|sell|sales?|orders?|purchase|discount)\b/i],
  ['contact', /\b(contact|demos?|call us|book|leads?|meeting)\b/i],
  ['apply', /\b(hire|hiring|apply|recruit\w*|jobs?)\b/i],
]

const numberWords: readonly string[] = ['one', 'two', 'three', 'four', 'five']

export const planKnobs: DefinedCapability = defineLater({
  capabilityId: 'strategy_plan_knobs',
  version: '1.0.0',
  displayName: 'Plan knobs',
  summary: 'Sets variant count, call to action and length from the objective and what the assets allow.',
  nodeKind: 'structuring',
  inputContract: {
    type: 'object',
    properties: {
      objectiveBrief: {
        type: 'object',
        properties: { objective: { type: 'string' } },
        required: ['objective'],
      },
      assetAnalysis,
    },
    required: ['objectiveBrief', 'assetAnalysis'],
  },
  outputContract: ['planKnobs'],
  idempotent: true,
  postConditions: [{ between: [{ var: 'planKnobs.variantCount' }, 1, 5] }],
  run(given) {
    const inputs = given as Json
    const brief = JSON.stringify(member(inputs, 'objectiveBrief') ?? '')
    const formats = listIn(member(inputs, 'assetAnalysis'), 'achievableFormats').map(String)
    const [ctaFocus] = ctaTable.find(([, words]) => words.test(brief)) ?? ['learn_more']
    return {
      planKnobs: { variantCount: variantCount(brief, formats.length), ctaFocus, length: lengthFor(formats) },
    }
  },
})

/** Returns the count in the objective, else one per format, between two and five. */
function variantCount(brief: string, formats: number): number {
  const [, said = ''] =
    /\b(\d{1,2}|one|two|three|four|five)\s+(?:\w+\s+)?(?:variants?|versions?|options?|posts?)\b/i.exec(
      brief,
    ) ?? []
  const word = numberWords.indexOf(said.toLowerCase())
  const asked = word === -1 ? Number(said) : word + 1
  return Math.min(Math.max(asked > 0 ? asked : Math.max(formats, 2), 1), 5)
}

/** Text next to videos or several pictures is short; a document allows more. */
function lengthFor(formats: readonly string[]): string {
  if (formats.includes('document_post')) return 'long'
  return formats.includes('video_post') || formats.includes('carousel_post') ? 'short' : 'medium'
}

function getKind(asset: Json): AssetKind {
  const payload = member(asset, 'payload')
  const said = [member(asset, 'type'), typeof payload === 'string' ? payload : JSON.stringify(payload ?? '')]
  for (const text of said) {
    const found = kindTable.find(([, words]) => words.test(String(text)))
    if (found) return found[0]
  }
  return 'text'
}

function member(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) ? (own(value, name) as Json | undefined) : undefined
}

function listIn(value: Json | undefined, name: string): readonly Json[] {
  const list = member(value, name)
  return Array.isArray(list) ? list : []
}
