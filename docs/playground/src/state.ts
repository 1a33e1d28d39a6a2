/** What is typed and chosen on the page, and its form in the fragment of the address. */
import { limits } from './limits.ts'

export interface Options {
  readonly aop: 'off' | 'minimal' | 'full'
  readonly prefer: 'first' | 'last' | 'largest'
  readonly acceptTruncated: boolean
  readonly salvage: boolean
  readonly defaults: boolean
  readonly untrusted: boolean
}

export interface State {
  readonly text: string
  /** As it was typed: JSON, a type name, or nothing. */
  readonly schema: string
  readonly options: Options
}

export const defaultOptions: Options = {
  aop: 'full',
  prefer: 'first',
  acceptTruncated: false,
  salvage: false,
  defaults: false,
  untrusted: false,
}

/** Values that an option may have; anything else in a fragment is refused. */
const allowed: { readonly [name in keyof Options]: readonly Options[name][] } = {
  aop: ['off', 'minimal', 'full'],
  prefer: ['first', 'last', 'largest'],
  acceptTruncated: [false, true],
  salvage: [false, true],
  defaults: [false, true],
  untrusted: [false, true],
}

/** Begins every fragment: the version of its form. */
const PREFIX = '#1.'

/** The fragment of a state, or why there is none. */
export function encodeState({ text, schema, options }: State): { fragment: string } | { error: string } {
  const bytes = new TextEncoder().encode(JSON.stringify({ text, schema, options }))
  const size = PREFIX.length + Math.ceil((bytes.length * 4) / 3)
  if (size > limits.fragment) {
    return { error: `Cannot make a link: it would have ${size} characters, more than ${limits.fragment}.` }
  }
  const encoded = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  return { fragment: PREFIX + encoded.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') }
}

/** The state of a fragment; `undefined` if there is none, an error if it cannot be read. Nothing in it is trusted. */
export function decodeState(fragment: string): State | { readonly error: string } | undefined {
  if (fragment === '' || fragment === '#') return undefined
  if (fragment.length > limits.fragment) {
    return { error: `Cannot open the link: it has more than ${limits.fragment} characters.` }
  }
  const broken = { error: 'Cannot open the link: it is broken or not of this page.' }
  if (!fragment.startsWith(PREFIX)) return broken
  try {
    const encoded = fragment.slice(PREFIX.length).replaceAll('-', '+').replaceAll('_', '/')
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
    const data: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return isState(data) ? data : broken
  } catch {
    return broken
  }
}

function isState(data: unknown): data is State {
  if (typeof data !== 'object' || data === null) return false
  const { text, schema, options } = data as { readonly [name: string]: unknown }
  if (typeof text !== 'string' || typeof schema !== 'string') return false
  if (typeof options !== 'object' || options === null) return false
  const given = options as { readonly [name: string]: unknown }
  return (
    Object.keys(given).length === Object.keys(allowed).length &&
    Object.entries(allowed).every(([name, values]) => (values as readonly unknown[]).includes(given[name]))
  )
}
