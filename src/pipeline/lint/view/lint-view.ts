/**
 * The model of a pipeline that the rules read: agents, steps in order and nesting, and templates, each with
 * its range. Accepts partly invalid files.
 */
import type { Json } from '../../../base/json.ts'
import { child, type Pointer } from '../../../base/pointer.ts'
import type { Pipeline } from '../../parse/pipeline.ts'
import { type TemplateMark, templateMarks } from '../../templates/template-marks.ts'
import type { YamlDocument } from '../../yaml/read-yaml.ts'
import { snake } from '../../yaml/snake-keys.ts'
import {
  plainValue,
  type YamlEntry,
  type YamlList,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from '../../yaml/yaml-tree.ts'
import { defaultLintSettings, type LintSettings } from '../lint-settings.ts'

interface LintAgent {
  readonly name: string
  readonly node: YamlMap
  /** Its `output_schema`. */
  readonly schema?: YamlNode
}

export interface LintStep {
  /** Its name, or the generated name when it has none. */
  readonly label: string
  readonly name?: string
  readonly kind: string
  readonly node: YamlMap
  readonly pointer: Pointer
  /** The list that contains it; a branch can be a single step without a list. */
  readonly list?: YamlList
  /** The steps of its own sequence, including itself. */
  readonly sequence: readonly LintStep[]
  readonly index: number
  readonly parent?: LintStep
  /** The steps inside it. */
  readonly inside: readonly LintStep[]
  /** Template expressions in its own texts, without those of the steps inside it. */
  readonly marks: readonly TemplateMark[]
  readonly agent?: LintAgent
}

/** An imported pipeline and its issues. */
export interface SeenImport {
  readonly pipeline?: Pipeline
  readonly issues: readonly { readonly code: string; readonly severity: 'error' | 'warning' | 'note' }[]
}

export type SeenImports = ReadonlyMap<string, SeenImport>

export interface LintView {
  readonly document: YamlDocument
  readonly settings: LintSettings
  readonly agents: ReadonlyMap<string, LintAgent>
  readonly imports: readonly string[]
  /** The imported pipelines, if the file was linted together with them. */
  readonly seen: SeenImports
  /** Every step in the order of the file, nested steps after the steps that contain them. */
  readonly steps: readonly LintStep[]
}

/** Keys of a step that contain other steps. */
export const nestingKeys: readonly string[] = ['branches', 'loop', 'map', 'router']
/** Keys of a step whose texts are not templates, or belong to the steps inside it. */
const noTemplates = new Set([
  ...['branches', 'body', 'name', 'kind', 'agent', 'uses', 'fallback'],
  ...['processing', 'output_schema', 'input_schema', 'meta'],
])

interface LintSurroundings {
  readonly settings?: LintSettings
  readonly imports?: SeenImports
}

export function lintView(document: YamlDocument, around: LintSurroundings = {}): LintView {
  const { settings = defaultLintSettings, imports: seen = new Map() } = around
  const { root, source } = document
  const agents = new Map<string, LintAgent>()
  for (const { key, value } of mapEntries(findEntry(root, 'agents')?.value)) {
    if (value.kind === 'map') agents.set(key, getAgent(key, value))
  }
  const imports = mapEntries(findEntry(root, 'imports')?.value).map(({ key }) => key)
  const steps: LintStep[] = []

  const addSequence = (items: readonly Item[], list: YamlList | undefined, parent?: LintStep): LintStep[] => {
    const sequence: LintStep[] = []
    for (const { node, pointer, otherwise } of items) {
      if (node.kind === 'map') add({ node, pointer, otherwise, sequence, list, parent })
    }
    return sequence
  }
  const add = ({ node, pointer, otherwise, sequence, list, parent }: Adding): void => {
    const name = textAt(node, 'name')
    const agent = agentUsed(node, agents)
    const inside: LintStep[] = []
    const step: LintStep = {
      label: name ?? otherwise ?? `step_${sequence.length + 1}`,
      ...(name !== undefined && { name }),
      kind: textAt(node, 'kind') ?? 'step',
      node,
      pointer,
      ...(list && { list }),
      sequence,
      index: sequence.length,
      ...(parent && { parent }),
      inside,
      marks: getTexts(node).flatMap((scalar) => templateMarks(source.text, scalar)),
      ...(agent && { agent }),
    }
    sequence.push(step)
    steps.push(step)
    for (const { items, list: within } of getSequences(node, pointer))
      inside.push(...addSequence(items, within, step))
  }

  const list = findEntry(root, 'steps')?.value
  if (list?.kind === 'list') addSequence(getItems(list, '/steps'), list)
  return { document, settings, agents, imports, seen, steps }
}

interface Item {
  readonly node: YamlNode
  readonly pointer: Pointer
  /** Default name of the step. */
  readonly otherwise?: string
}

interface Adding {
  readonly node: YamlMap
  readonly pointer: Pointer
  readonly otherwise: string | undefined
  readonly sequence: LintStep[]
  readonly list: YamlList | undefined
  readonly parent: LintStep | undefined
}

function getItems(list: YamlList, pointer: Pointer): Item[] {
  return list.items.map((node, index) => ({ node, pointer: child(pointer, String(index)) }))
}

/** The sequences of steps inside a step, at any depth of its keys. */
function getSequences(node: YamlMap, pointer: Pointer): Sequence[] {
  return node.entries
    .filter(({ key }) => nestingKeys.includes(key))
    .flatMap((entry) => sequencesUnder(entry, pointer))
}

interface Sequence {
  readonly items: Item[]
  readonly list?: YamlList
}

/** The map of branches is never a step itself, even if a branch is named like a key of a step. */
function sequencesUnder({ key, value }: YamlEntry, pointer: Pointer): Sequence[] {
  const at = child(pointer, key)
  return key === 'branches' && value.kind === 'map'
    ? value.entries.flatMap((branch) => sequencesOfBranch(branch, child(at, branch.key)))
    : sequencesIn(value, at)
}

/** A branch that is a single step, not a list, gives the step its name. */
function sequencesOfBranch({ key, value }: YamlEntry, pointer: Pointer): Sequence[] {
  return value.kind === 'map'
    ? [{ items: [{ node: value, pointer, otherwise: key }] }]
    : sequencesIn(value, pointer)
}

function sequencesIn(node: YamlNode, pointer: Pointer): Sequence[] {
  if (node.kind === 'scalar') return []
  if (node.kind === 'list') {
    return node.items.some(isStep) ? [{ items: getItems(node, pointer), list: node }] : []
  }
  if (isStep(node)) return [{ items: [{ node, pointer }] }]
  return node.entries.flatMap((entry) => sequencesUnder(entry, pointer))
}

function isStep(node: YamlNode): boolean {
  return ['name', 'kind', 'agent', 'uses'].some((key) => findEntry(node, key) !== undefined)
}

function getAgent(name: string, node: YamlMap): LintAgent {
  const schema = findEntry(node, 'output_schema')?.value
  return { name, node, ...(schema && { schema }) }
}

/** Finds the agent of a step: `agent: writer`, `uses: agents.writer`, or an inline agent. */
function agentUsed(node: YamlMap, agents: ReadonlyMap<string, LintAgent>): LintAgent | undefined {
  const agent = findEntry(node, 'agent')?.value
  if (agent?.kind === 'map') return getAgent('its agent', agent)
  const name = agentName(node)
  return name === undefined ? undefined : agents.get(name)
}

/** The name of the agent that a step refers to, whether or not the agent exists. */
export function agentName(node: YamlMap): string | undefined {
  const uses = textAt(node, 'uses')
  const said = textAt(node, 'agent') ?? (uses?.startsWith('agents.') ? uses : undefined)
  return said?.replace(/^agents\./, '')
}

/** All texts that may contain templates. */
function getTexts(node: YamlNode): YamlScalar[] {
  if (node.kind === 'scalar') return typeof node.value === 'string' ? [node] : []
  if (node.kind === 'list') return node.items.flatMap(getTexts)
  return node.entries
    .filter(({ key }) => !noTemplates.has(snake(key)))
    .flatMap(({ value }) => getTexts(value))
}

/** Finds the entry of a key, in snake_case or camelCase. */
export function findEntry(node: YamlNode | undefined, key: string): YamlEntry | undefined {
  if (node?.kind !== 'map') return undefined
  const { asWritten, inSnake } = getKeys(node)
  return asWritten.get(key) ?? inSnake.get(key)
}

interface Keys {
  readonly asWritten: ReadonlyMap<string, YamlEntry>
  readonly inSnake: ReadonlyMap<string, YamlEntry>
}

/** Caches the keys of each map: every rule looks up keys on every step, most of which are absent. */
const knownKeys = new WeakMap<YamlMap, Keys>()

function getKeys(node: YamlMap): Keys {
  const known = knownKeys.get(node)
  if (known) return known
  const asWritten = new Map<string, YamlEntry>()
  const inSnake = new Map<string, YamlEntry>()
  for (const entry of node.entries) {
    const other = snake(entry.key)
    if (!asWritten.has(entry.key)) asWritten.set(entry.key, entry)
    if (!inSnake.has(other)) inSnake.set(other, entry)
  }
  const keys = { asWritten, inSnake }
  knownKeys.set(node, keys)
  return keys
}

function mapEntries(node: YamlNode | undefined) {
  return node?.kind === 'map' ? node.entries : []
}

export function textAt(node: YamlNode | undefined, key: string): string | undefined {
  const value = findEntry(node, key)?.value
  return value?.kind === 'scalar' && typeof value.value === 'string' ? value.value : undefined
}

export function plainAt(node: YamlNode | undefined, key: string): Json | undefined {
  const value = findEntry(node, key)?.value
  return value === undefined ? undefined : plainValue(value)
}

/** Memoises a computation per view, for facts that several rules need. */
export function perView<T>(make: (view: LintView) => T): (view: LintView) => T {
  const made = new WeakMap<LintView, { readonly value: T }>()
  return (view) => {
    const known = made.get(view) ?? { value: make(view) }
    made.set(view, known)
    return known.value
  }
}
