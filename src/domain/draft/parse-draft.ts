/**
 * Parses a draft written by a person or a model; a node needs only an id and a capability. `prove` decides whether it
 * can run.
 */

import { closest } from '../../base/closest.ts'
import { type Json, own } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import { clip } from '../../schema/describe.ts'
import { agentIssues } from '../loop/agent-settings.ts'
import type { ParseIssue } from '../parse/issue-table.ts'
import {
  below,
  checkCondition,
  checkNoun,
  checkSchema,
  type FoundIssues,
  type Parsed,
  type ParseNounOptions,
  repeatIssues,
  settle,
  shareParsed,
} from '../parse/parsed.ts'
import { plainCopy } from '../parse/plain-copy.ts'
import { type Draft, type DraftNode, givenNames, isIterated } from '../plan.ts'
import { isRaoError, raoFields, readRaoContract } from '../rao/rao-contract.ts'
import { draftSchema } from '../schemas/draft-schema.ts'
import { modelSettingsIssues } from '../settings/model-settings.ts'
import { checkProcessing } from './processing.ts'

// The `data` of a node: free, except for the keys that are settings. A key that is nearly one of them, or a setting that is
// without effect where it is, would switch a safety setting off in silence: it is refused.

type Data = { readonly [key: string]: unknown }

/** Every key of `data` that means something. */
const settings: readonly string[] = [...raoFields, 'processing', 'modelSettings', 'knowledge', 'outputFormat']

/** Keys that are misspelled, nested in `rao`, or need `contract` and lack it. */
export function checkNodeData(data: Data, at: Pointer): ParseIssue[] {
  const absent = settings.filter((name) => own(data, name) === undefined)
  const issues = Object.keys(data)
    .filter((key) => !settings.includes(key))
    .flatMap((key) => checkKey(key, absent, at))
  return issues.length > 0 ? issues : checkOptIn(data, at)
}

/** A setting that is there was not meant by another key. */
function checkKey(key: string, absent: readonly string[], at: Pointer): ParseIssue[] {
  const pointer = child(at, key)
  if (key === 'rao')
    return [
      {
        code: 'draft/data',
        at: { pointer },
        message: 'a node has no `rao` in its data, and this would have no effect',
        hint: 'Move its keys up: data: { contract: true, … }',
      },
    ]
  const meant = closest(key, absent)
  if (meant === undefined) return []
  return [
    {
      code: 'draft/data',
      at: { pointer },
      message: `the property ${JSON.stringify(key)} is not a setting of a node and would have no effect`,
      hint: `Did you mean "${meant}"? If not, use a name that is less like it`,
    },
  ]
}

function checkOptIn(data: Data, at: Pointer): ParseIssue[] {
  if (own(data, 'contract') !== undefined) return []
  const field = raoFields.find((name) => own(data, name) !== undefined)
  if (field === undefined) return []
  return [
    {
      code: 'draft/data',
      at: { pointer: child(at, field) },
      message: `${field} has no effect without contract`,
      hint: 'Add contract: true, or contract: false to keep the key and leave the contract off',
    },
  ]
}

/**
 * Reads a draft. Never throws.
 *
 * @example
 * parseDraft({ nodes: [{ id: 'write', capabilityId: 'writer.en' }] })
 */
export function parseDraft(given: unknown, options: ParseNounOptions = {}): Parsed<Draft> {
  const copy = plainCopy(given)
  return copy.ok ? parsePlain(copy.value, options) : { ok: false, issues: [copy.issue], warnings: [] }
}

const parsePlain = shareParsed((value, options): Parsed<Draft> => {
  const findings: FoundIssues = {
    issues: checkNoun(draftSchema, value, 'Remove it, or put it into metadata').map(explainBinding),
    warnings: [],
  }
  if (findings.issues.length > 0) return { ok: false, ...findings }
  // The schema has said that it is one.
  const draft = value as unknown as Draft
  findings.issues.push(...nodeIssues(draft, '', options))
  return settle(findings, () => draft)
})

/** A constant that is bound as it is. */
function explainBinding(issue: ParseIssue): ParseIssue {
  const { code, at, hint, actual } = issue
  const isInput = 'pointer' in at && /\/nodes\/\d+\/inputs\/[^/]+$/.test(at.pointer)
  if (code !== 'schema/type' || !isInput || hint !== undefined) return issue
  return { ...issue, hint: `Write { "value": ${clip(actual)} } for a constant` }
}

/** What is wrong with the nodes of a draft or of a body. */
function nodeIssues({ nodes }: Draft, at: string, options: ParseNounOptions): ParseIssue[] {
  const issues: ParseIssue[] = []
  for (const [index, node] of nodes.entries()) {
    const here = `${at}/nodes/${index}`
    for (const check of nodeChecks) for (const issue of check(node, here, options)) issues.push(issue)
    if (node.body !== undefined)
      for (const issue of nodeIssues(node.body, `${here}/body`, options)) issues.push(issue)
  }
  const ids = nodes.map(({ id }) => id)
  const pointer = (index: number) => `${at}/nodes/${index}/id`
  return [...issues, ...repeatIssues(ids, 'node id', { code: 'draft/duplicate', pointer })]
}

/** What a node that only decides has no use for: nothing is called, so nothing is tried again or takes time. */
const notOfRoutes = [
  'retry',
  'alternates',
  'onFail',
  'tools',
  'callBudget',
  'tokenBudget',
  'costBudgetUsd',
  'timeoutMs',
] as const satisfies readonly (keyof DraftNode)[]

/** What only a node that calls something has. */
const notOfIterations = [
  'capabilityId',
  'routing',
  'facets',
  'retry',
  'alternates',
  'onFail',
  'tools',
  'callBudget',
  'tokenBudget',
  'costBudgetUsd',
  'timeoutMs',
  'constraints',
] as const satisfies readonly (keyof DraftNode)[]

/** Tools of a node are read like those of an agent. */
function toolIssues(tools: NonNullable<DraftNode['tools']>, options: ParseNounOptions): ParseIssue[] {
  // The schema has said that they are tools.
  const settings = { tools: tools as unknown as Json }
  return agentIssues({ kind: 'model', settings }, options).map((issue) =>
    'pointer' in issue.at
      ? { ...issue, at: { ...issue.at, pointer: issue.at.pointer.replace('/settings', '') } }
      : issue,
  )
}

type NodeCheck = (node: DraftNode, at: string, options: ParseNounOptions) => ParseIssue[]

/** What the schema cannot say of a node, one row per thing. */
const nodeChecks: readonly NodeCheck[] = [
  function toolsAreUsable({ tools }, at, options) {
    return tools === undefined ? [] : toolIssues(tools, options).map((issue) => below(at, issue))
  },
  function idCanBeSent({ id }, at) {
    if (id.isWellFormed()) return []
    // As JSON, which writes the half in its escaped form: the message can be sent, too.
    const message = `the id ${JSON.stringify(id)} has half of a surrogate pair, which no header and no URL can carry`
    const hint = 'Give the node an id of whole characters'
    return [{ code: 'draft/node-id', at: { pointer: `${at}/id` }, message, hint }]
  },
  function hasWorker(node, at) {
    if (node.capabilityId !== undefined || node.routing !== undefined || isIterated(node)) return []
    const message = `no capability for the node ${JSON.stringify(node.id)}`
    return [
      {
        code: 'draft/worker',
        at: { pointer: at },
        message,
        hint: 'Give it a capabilityId, a routing, or a map or loop with a body',
      },
    ]
  },
  function routeCallsNothing(node, at) {
    if (node.routing === undefined || node.capabilityId !== undefined || isIterated(node)) return []
    return notOfRoutes
      .filter((key) => node[key] !== undefined)
      .map((key) => ({
        code: 'draft/route',
        at: { pointer: `${at}/${key}` },
        message: `a routing node has no ${key}`,
        hint: `Remove ${key}, or put it on a node that calls a capability`,
      }))
  },
  function bodyIsWhole(node, at) {
    const issue = (key: string, message: string, hint: string): ParseIssue[] => [
      { code: 'draft/body', at: { pointer: `${at}${key}` }, message, hint },
    ]
    if (!isIterated(node))
      return node.body === undefined
        ? []
        : issue('/body', 'a body belongs to a map or a loop', 'Add map: {} or loop: {} to the node')
    const kind = node.map === undefined ? 'loop' : 'map'
    const input = kind === 'map' ? 'items' : 'state'
    const foreign = notOfIterations.find((key) => node[key] !== undefined)
    if (node.map !== undefined && node.loop !== undefined)
      return issue('/loop', 'a node is a map or a loop, not both', 'Put one into the body of the other')
    if (node.body === undefined)
      return issue('', `the ${kind} ${JSON.stringify(node.id)} has no body`, 'Add body: { nodes: […] }')
    if (node.body.limits !== undefined)
      return issue('/body/limits', 'limits belong to the whole draft', 'Move them to the root of the draft')
    if (foreign !== undefined)
      return issue(`/${foreign}`, `a ${kind} has no ${foreign}`, `Put ${foreign} on a node of its body`)
    if (!Object.hasOwn(node.inputs ?? {}, input))
      return issue('', `the ${kind} has no input "${input}"`, `Bind inputs.${input}, and its other inputs`)
    const taken = givenNames[kind].find((name) => Object.hasOwn(node.inputs ?? {}, name) && name !== input)
    return taken === undefined
      ? []
      : issue(`/inputs/${taken}`, `"${taken}" is what the ${kind} itself gives its body`, 'Rename the input')
  },
  function schemasCompile({ contracts = {}, loop }, at) {
    const state = loop?.state === undefined ? [] : checkSchema(loop.state, `${at}/loop/state`)
    const sides = Object.entries(contracts).flatMap(([side, schema]) =>
      checkSchema(schema, `${at}/contracts/${side}`),
    )
    return [...sides, ...state]
  },
  function conditionsAreReadable({ postConditions = [], routing, loop }, at, options) {
    return [
      ...(loop?.until === undefined ? [] : [[loop.until, `${at}/loop/until`] as const]),
      ...postConditions.map((condition, index) => [condition, `${at}/postConditions/${index}`] as const),
      ...(routing?.routes ?? []).map(
        ({ condition }, index) => [condition, `${at}/routing/routes/${index}/condition`] as const,
      ),
    ].flatMap(([condition, pointer]) => checkCondition(condition, pointer, options))
  },
  function contractIsReadable({ data }, at) {
    if (data === undefined) return []
    const misplaced = checkNodeData(data, `${at}/data`)
    if (misplaced.length > 0) return misplaced
    const contract = readRaoContract(data)
    if (!isRaoError(contract)) return []
    const field = contract.error === 'InvalidField' ? `/${contract.field}` : ''
    return [{ code: 'draft/contract', at: { pointer: `${at}/data${field}` }, message: contract.message }]
  },
  function modelSettingsAreReadable({ data }, at) {
    return modelSettingsIssues(data?.['modelSettings'], `${at}/data/modelSettings`)
  },
  function processingIsReadable({ data }, at) {
    if (data?.processing === undefined) return []
    const checked = checkProcessing(data.processing)
    return checked.ok ? [] : checked.issues.map((issue) => below(`${at}/data/processing`, issue))
  },
]
