/**
 * Replaces the secrets of data by sealed references before it is stored, and puts them back after it is read. The same
 * detection as on the way out decides what is a secret, so over-detection does no harm here: opening restores the value
 * exactly. A reference is a text, `[sealed:v1.<key id>.<ciphertext>]`, within or instead of the text that it replaces.
 */
import { type Json, setOwn } from '../../base/json.ts'
import type { EventType, NewEvent } from '../event.ts'
import type { Draft, DraftNode, Plan } from '../plan.ts'
import { isKeyLike, redacted } from './redact.ts'
import { type KnownKeys, type Rewrite, rewriteValue } from './rewrite-value.ts'
import { isSecretMember } from './secret-keys.ts'
import { findSecretShapes } from './secret-shapes.ts'

export interface Sealing {
  /** Returns the reference for a text; the same one for the same text of a run. */
  readonly seal: (text: string) => string
  /** Replaces secrets of the run that are known from other places. */
  readonly hide?: ((text: string, replace: (secret: string) => string) => string) | undefined
  /** Called with each text under a key that names a secret, if it can be recognised in other texts. */
  readonly onSecret?: (secret: string) => void
}

/** Values that are not texts are marked, so that they come back as what they were. */
const [textMark, jsonMark] = ['s', 'j']

const [deepest, nodes] = [1_000, Number.POSITIVE_INFINITY]
const unchanged = (value: unknown) => value
/** Keys without secrets; shared, because they are the same in all runs. */
const keys: KnownKeys = new Map()

/** Returns an event for the journal. Ids, schemas and bindings stay readable: stores and verification read them. */
export function sealEvent<E extends NewEvent>(event: E, sealer: Sealer): E {
  const payload = sealPayload(event, sealer)
  const message = event.message === undefined ? undefined : sealer.text(event.message)
  if (payload === event.payload && message === event.message) return event
  // Only texts and numbers under the names of secrets change.
  return { ...event, payload, ...(message !== undefined && { message }) } as E
}

/** Returns other data for the store. */
export function sealData<T>(value: T, sealer: Sealer): T {
  // References replace texts; readers open them first.
  return sealer.data(value) as T
}

interface Sealer {
  /** Whether texts are searched for secrets that only this run has. */
  readonly isRunSpecific: boolean
  text(text: string): string
  /** All secrets. */
  data(value: unknown): unknown
  /** Only texts with the shape of a secret: schemas have properties that name secrets, and are not secret. */
  shapes(value: unknown): unknown
  /** Everything in a value that is secret as a whole. */
  leaves(value: unknown): unknown
}

export function createSealer({ seal, hide, onSecret }: Sealing): Sealer {
  const sealText = (secret: string) => seal(textMark + secret)
  const rest = hide ? (given: string) => hide(given, sealText) : (given: string) => given
  const text = (given: string): string => {
    const found = findSecretShapes(given)
    if (found === undefined) return rest(given)
    let [sealed, from] = ['', 0]
    for (const [start, end] of found) {
      sealed += rest(given.slice(from, start)) + sealText(given.slice(start, end))
      from = end
    }
    return sealed + rest(given.slice(from))
  }
  const leaf = (value: string) => {
    if (value === '' || value === redacted) return value
    if (isKeyLike(value)) onSecret?.(value)
    return sealText(value)
  }
  const number = (value: number) => seal(jsonMark + JSON.stringify(value))
  const whole: Rewrite = { text: leaf, number, key: text, deepest, nodes, cut: unchanged }
  const shaped: Rewrite = { text, keys, deepest, nodes, cut: unchanged }
  const leaves = (value: unknown) => rewriteValue(value, whole)
  const all: Rewrite = { ...shaped, secret: leaves }
  return {
    isRunSpecific: hide !== undefined,
    text,
    leaves,
    data: (value) => rewriteValue(value, all),
    shapes: (value) => rewriteValue(value, shaped),
  }
}

/** Members that name a run or its contract; lists are filtered by them, and they are compared as they are. */
const openMembers: ReadonlySet<string> = new Set([
  'threadId',
  'correlationId',
  'schemaHash',
  'tenant',
  'traceparent',
])

/** Types whose payload has more than data. */
const structured: ReadonlySet<EventType> = new Set(['start', 'plan_generated', 'hitl_request'])

function sealPayload({ type, payload }: NewEvent, sealer: Sealer): unknown {
  if (!structured.has(type)) return sealer.data(payload)
  return mapMembers(payload, (name, member) => {
    if (openMembers.has(name)) return member
    if (name === 'envelope') return sealEnvelope(member, sealer)
    // Checked when the event was made.
    if (name === 'draft' || name === 'plan')
      return onceForShared(member, sealer, () => sealGraph(member as Draft | Plan | null, sealer))
    if (name === 'schema' && type === 'hitl_request') return sealer.shapes(member)
    return sealMember(name, member, sealer)
  })
}

function sealMember(name: string, member: unknown, sealer: Sealer): unknown {
  return isSecretMember(name, member) ? sealer.leaves(member) : sealer.data(member)
}

function sealEnvelope(envelope: unknown, sealer: Sealer): unknown {
  return mapMembers(envelope, (name, member) => {
    if (name === 'outputContract') return onceForShared(member, sealer, () => sealer.shapes(member))
    if (name !== 'metadata') return sealMember(name, member, sealer)
    return mapMembers(member, (key, value) =>
      // Runs are found by these.
      key === 'subject' || key === 'pipeline' ? value : sealMember(key, value, sealer),
    )
  })
}

const schemaMembers: ReadonlySet<string> = new Set([
  'contracts',
  'alternateContracts',
  'map',
  'loop',
  'routing',
  'postConditions',
  'guards',
  'rao',
  'facetProvenance',
  'needs',
  'retry',
])

/** Drafts, plans and contracts without secrets: runs share them, and they never change. */
const plain = new WeakSet<object>()

function onceForShared(value: unknown, { isRunSpecific }: Sealer, seal: () => unknown): unknown {
  // A run that is resumed keeps its plan: its event has none.
  if (isRunSpecific || typeof value !== 'object' || value === null) return seal()
  if (plain.has(value)) return value
  const sealed = seal()
  if (sealed === value) plain.add(value)
  return sealed
}

/** A draft, a plan, or the body of a map or loop. */
function sealGraph(graph: Draft | Plan | null, sealer: Sealer): unknown {
  if (graph === null) return graph
  return mapMembers(graph, (name, member) => {
    if (name === 'nodes') return mapItems(member, (node) => sealNode(node as DraftNode, sealer))
    if (name === 'aside') return sealBindings(member, sealer)
    if (name === 'output')
      return mapMembers(member, (key, value) =>
        key === 'properties' ? sealBindings(value, sealer) : sealer.data(value),
      )
    return sealMember(name, member, sealer)
  })
}

function sealNode(node: DraftNode, sealer: Sealer): unknown {
  return mapMembers(node, (name, member) => {
    if (name === 'inputs') return sealBindings(member, sealer)
    if (name === 'body') return sealGraph(member as Draft, sealer)
    return schemaMembers.has(name) ? sealer.shapes(member) : sealMember(name, member, sealer)
  })
}

/** By property: only a literal is data, and a secret if its property names one. */
function sealBindings(bindings: unknown, sealer: Sealer): unknown {
  return mapMembers(bindings, (property, binding) => {
    const sealSource = (source: unknown) =>
      mapMembers(source, (name, member) =>
        name === 'value' ? sealMember(property, member, sealer) : sealer.shapes(member),
      )
    return Array.isArray(binding) ? mapItems(binding, sealSource) : sealSource(binding)
  })
}

/** Applies `change` to each member; returns the given object if none changed. */
function mapMembers(value: unknown, change: (name: string, member: unknown) => unknown): unknown {
  if (Array.isArray(value)) return mapItems(value, (item) => mapMembers(item, change))
  if (typeof value !== 'object' || value === null) return change('', value)
  let copy: object | undefined
  for (const name of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[name]
    const changed = change(name, member)
    if (changed === member) continue
    copy ??= { ...value }
    setOwn(copy, name, changed)
  }
  return copy ?? value
}

function mapItems(items: unknown, change: (item: unknown) => unknown): unknown {
  if (!Array.isArray(items)) return items
  const changed = items.map(change)
  return changed.some((item, index) => item !== items[index]) ? changed : items
}

// Opening

const begin = '[sealed:'
const reference = /\[sealed:v1\.[\da-f]{8}\.[\w-]{38,}\]/g
const wholeReference = /^\[sealed:v1\.[\da-f]{8}\.[\w-]{38,}\]$/

/**
 * Puts secrets back. References that cannot be opened stay as they are. `onSecret` is called with each text that was sealed
 * as a whole, if it can be recognised in other texts.
 */
export function openData<T>(
  value: T,
  open: (reference: string) => string | undefined,
  onSecret?: (secret: string) => void,
): T {
  const text = (given: string): unknown => {
    if (!given.includes(begin)) return given
    if (!wholeReference.test(given)) return given.replace(reference, (each) => toText(open(each), each))
    const opened = open(given)
    if (opened?.startsWith(jsonMark)) return JSON.parse(opened.slice(1))
    const secret = toText(opened, given)
    if (opened !== undefined && isKeyLike(secret)) onSecret?.(secret)
    return secret
  }
  // What was sealed comes back in its own type.
  return rewriteValue(value, {
    text: text as (given: string) => string,
    keys,
    deepest,
    nodes,
    cut: unchanged,
  }) as T
}

/** Opens only members that name a secret, for answers that are shown: their contract asks for these by name. */
export function openNamed<T>(value: T, open: (reference: string) => string | undefined): T {
  const secret = (member: unknown) => openData(member, open)
  // What was sealed comes back in its own type.
  return rewriteValue(value, { text: (given) => given, secret, keys, deepest, nodes, cut: unchanged }) as T
}

function toText(opened: string | undefined, given: string): string {
  return opened === undefined ? given : opened.slice(1)
}

/** Whether a value has a reference, which means that no known key could open it. */
export function hasSealedText(value: Json): boolean {
  let found = false
  const text = (given: string) => {
    found ||= given.includes(begin) && given.match(reference) !== null
    return given
  }
  rewriteValue(value, { text, keys, deepest, nodes, cut: unchanged })
  return found
}
