/** A draft as a person or a model writes it; a node needs only an id and a capability. Whether it can run is for `prove`. */
import type { Issue } from '../base/issue.ts'
import { checkCondition, checkNoun, checkSchema } from './check-noun.ts'
import { below, type Findings, type Parsed, type ParseNounOptions, settle } from './parsed.ts'
import { plainCopy } from './plain-copy.ts'
import type { Draft, DraftNode } from './plan.ts'
import { checkProcessing } from './processing.ts'
import { isRaoError, readRaoContract } from './rao.ts'
import { repeatIssues } from './repeats.ts'
import { draftSchema } from './schemas/draft-schema.ts'

/**
 * Reads a draft. Never throws.
 *
 * @example
 * parseDraft({ nodes: [{ id: 'write', capabilityId: 'writer.en' }] })
 */
export function parseDraft(given: unknown, options: ParseNounOptions = {}): Parsed<Draft> {
  const copy = plainCopy(given)
  if (!copy.ok) return { ok: false, issues: [copy.issue], warnings: [] }
  const findings: Findings = {
    issues: checkNoun(draftSchema, copy.value, 'Remove it, or put it into metadata'),
    warnings: [],
  }
  if (findings.issues.length > 0) return { ok: false, ...findings }
  // The schema has said that it is one.
  const draft = copy.value as unknown as Draft
  for (const [index, node] of draft.nodes.entries()) {
    for (const check of nodeChecks) findings.issues.push(...check(node, `/nodes/${index}`, options))
  }
  const ids = draft.nodes.map(({ id }) => id)
  const pointer = (index: number) => `/nodes/${index}/id`
  findings.issues.push(...repeatIssues(ids, 'node id', { code: 'draft/duplicate', pointer }))
  return settle(findings, () => draft)
}

type NodeCheck = (node: DraftNode, at: string, options: ParseNounOptions) => Issue[]

/** What the schema cannot say of a node, one row per thing. */
const nodeChecks: readonly NodeCheck[] = [
  function idCanBeSent({ id }, at) {
    if (id.isWellFormed()) return []
    // As JSON, which writes the half in its escaped form: the message can be sent, too.
    const message = `the id ${JSON.stringify(id)} has half of a surrogate pair, which no header and no URL can carry`
    const hint = 'Give the node an id of whole characters'
    return [{ code: 'draft/node-id', at: { pointer: `${at}/id` }, message, hint }]
  },
  function hasWorker(node, at) {
    if (node.capabilityId !== undefined || node.routing !== undefined) return []
    const message = `nobody does the node ${JSON.stringify(node.id)}`
    return [
      { code: 'draft/worker', at: { pointer: at }, message, hint: 'Give it a capabilityId, or a routing' },
    ]
  },
  function schemasCompile({ contracts = {} }, at) {
    return Object.entries(contracts).flatMap(([side, schema]) =>
      checkSchema(schema, `${at}/contracts/${side}`),
    )
  },
  function conditionsAreReadable({ postConditions = [], routing }, at, options) {
    return [
      ...postConditions.map((condition, index) => [condition, `${at}/postConditions/${index}`] as const),
      ...(routing?.routes ?? []).map(
        ({ condition }, index) => [condition, `${at}/routing/routes/${index}/condition`] as const,
      ),
    ].flatMap(([condition, pointer]) => checkCondition(condition, pointer, options))
  },
  function contractIsReadable({ data }, at) {
    const contract = readRaoContract(data)
    if (!isRaoError(contract)) return []
    const field = contract.error === 'InvalidField' ? `/${contract.field}` : ''
    return [{ code: 'draft/contract', at: { pointer: `${at}/data${field}` }, message: contract.message }]
  },
  function processingIsReadable({ data }, at) {
    if (data?.processing === undefined) return []
    const checked = checkProcessing(data.processing)
    return checked.ok ? [] : checked.issues.map((issue) => below(`${at}/data/processing`, issue))
  },
]
