/** `--input` for templates: the inputs as a JSON object, as a file with one, or one value at a time. */
import { isObject, type Json, setOwn } from '../base/json.ts'
import { detectJson } from '../output/index.ts'
import type { Unreadable } from './read-input.ts'
import { readJson } from './read-json.ts'

export type Inputs = { readonly [name: string]: Json }

/** Later ones count. A VALUE that is JSON is the value that it stands for, else a text. */
export async function readInputs(
  given: readonly string[],
): Promise<{ readonly inputs: Inputs } | { readonly unreadable: Unreadable }> {
  const inputs: { [name: string]: Json } = {}
  for (const each of given) {
    const read = await readOne(each)
    if ('unreadable' in read) return read
    for (const [name, value] of Object.entries(read.inputs)) setOwn(inputs, name, value)
  }
  return { inputs }
}

async function readOne(
  given: string,
): Promise<{ readonly inputs: Inputs } | { readonly unreadable: Unreadable }> {
  if (given.startsWith('@') || given === '-') {
    const file = await readJson(given.replace(/^@/, ''), 'the input')
    if ('unreadable' in file) return file
    if (isObject(file.value)) return { inputs: file.value as Inputs }
    return { unreadable: { message: `${file.name} is not a JSON object`, hint } }
  }
  const detected = detectJson(given)
  if (detected.isParsed && isObject(detected.value)) return { inputs: detected.value as Inputs }
  const [, name, value = ''] = /^([^=\s{]+)=([\s\S]*)$/.exec(given) ?? []
  if (name !== undefined) return { inputs: { [name]: detectJson(value).value as Json } }
  return { unreadable: { message: `--input ${given.slice(0, 60)} cannot be read`, hint } }
}

const hint = `Write --input name=value, --input '{"name": "value"}' or --input @file.json`
