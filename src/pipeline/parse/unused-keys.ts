/**
 * Reports keys of a step that have no effect on its worker, with where they belong. A key that is
 * accepted without effect would be relied upon.
 */
import { isObject, type Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import { type Given, raoKeys } from './given-step.ts'
import type { Worker } from './pipeline.ts'
import type { Reading } from './reading.ts'

/** Hints by key. */
type Remedies = Readonly<Record<string, string>>

const inside = 'Set it on the steps of the imported pipeline'
const ofAnswer = 'Set it on the step of the imported pipeline that answers'

const forImports: Remedies = {
  timeout: `${inside}, or limits: { deadline: SECONDS } in this file`,
  max_retries: inside,
  usage_limits: `${inside}, or limits: in this file`,
  processing: `${inside}; output_schema says what this step must answer`,
  ...Object.fromEntries(Object.keys(raoKeys).map((key) => [key, ofAnswer])),
}

const noModel = 'Remove it: no model is called, and the same input gives the same output'

const forFunctions: Remedies = {
  max_retries: noModel,
  usage_limits: noModel,
  processing: `${noModel}; output_schema says what the step must yield`,
  ...Object.fromEntries(
    Object.keys(raoKeys).map((key) => [key, 'Set it on the step whose model answers by the contract']),
  ),
}

export function reportUnusedKeys(reading: Reading, { data, at }: Given, worker: Worker): void {
  const remedies = remediesFor(worker)
  const complain = (pointer: Pointer, key: string, hint: string) =>
    reading.issues.push(
      reading.complain(pointer, {
        code: 'pipeline/unread',
        key: true,
        message: `${key} has no effect on ${describe(worker)}`,
        hint,
      }),
    )
  for (const [key, hint] of Object.entries(remedies)) {
    if (key === 'processing') {
      const meta = isObject(data['meta']) ? (data['meta']['processing'] as Json | undefined) : undefined
      for (const part of keysOf(data[key])) complain(`${at}/processing/${part}`, `processing.${part}`, hint)
      for (const part of keysOf(meta)) complain(`${at}/meta/processing/${part}`, `processing.${part}`, hint)
    } else if (data[key] !== undefined) complain(`${at}/${key}`, key, hint)
  }
}

/** All keys but the schema, which applies to every step. */
function keysOf(processing: Json | undefined): string[] {
  return isObject(processing) ? Object.keys(processing).filter((key) => key !== 'schema') : []
}

function remediesFor({ kind, name }: Worker): Remedies {
  if (kind === 'import') return forImports
  if (kind === 'builtin') return name === 'extract_from_text' ? {} : forFunctions
  return {}
}

function describe({ kind, name }: Worker): string {
  return `a step that uses ${kind === 'import' ? 'imports.' : ''}${name}`
}
