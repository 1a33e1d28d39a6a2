/** The capability that templates provide: passes a value on, parsed from JSON text if asked, or one part of it. */
import { ProvisoError } from '../../../base/errors/error.ts'
import { isObject, type Json, own } from '../../../base/json.ts'
import type { Capability } from '../../../domain/capability.ts'
import { detectJson } from '../../../output/index.ts'
import { follow } from './value.ts'

export const valueId = 'proviso.template.value'

/** A capability with its function. */
export interface TemplateCapability {
  readonly capability: Capability
  readonly run?: (inputs: Json) => Json
}

export const valueCapability: TemplateCapability = {
  capability: {
    capabilityId: valueId,
    version: '1',
    displayName: 'Value',
    summary:
      'Hands a value of a template on: text that is JSON as what it stands for, or the part at a path.',
    kind: 'local',
    nodeKind: 'transformation',
    inputContract: { type: 'object', required: ['value'] },
    outputContract: { type: 'object', required: ['value'] },
    idempotent: true,
    sideEffect: false,
    postConditions: [],
  },
  run: handOn,
}

/** Inputs: `value`, `detect` (parse JSON text), `path` (the part to take), `name` (for messages). */
function handOn(inputs: Json): Json {
  const given = (key: string) => (isObject(inputs) ? (own(inputs, key) as Json | undefined) : undefined)
  const value = given('value') ?? null
  const native = given('detect') === true ? (detectJson(value).value as Json) : value
  const path = given('path')
  if (!Array.isArray(path)) return { value: native }
  const part = follow(native, path.map(String))
  if (part === undefined)
    throw new ProvisoError(
      'capability/refused',
      `"${String(given('name') ?? 'the value')}" has nothing at "${path.join('.')}"`,
      { hint: 'Name a part that is always there, or declare the output_format that has it' },
    )
  return { value: part }
}
