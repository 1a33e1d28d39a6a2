/** A step as it stands in the file, and what every kind of step says. */
import type { Json } from '../base/json.ts'
import type { Pointer } from '../base/pointer.ts'

export type Data = { readonly [key: string]: Json }

export interface Given {
  readonly data: Data
  readonly at: Pointer
  readonly name: string
}

export function common({ data, at, name }: Given) {
  const sink = data['sink_to']
  return {
    name,
    at,
    ...(data['input'] !== undefined && { input: data['input'] }),
    updatesContext: data['updates_context'] === true,
    ...(typeof data['mergeable_output'] === 'boolean' && { mergeableOutput: data['mergeable_output'] }),
    ...(typeof sink === 'string' && { sinkTo: sink.replace(/^context\./, '') }),
  }
}
