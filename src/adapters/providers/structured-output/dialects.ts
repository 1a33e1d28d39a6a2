/**
 * The JSON Schema support of each provider's structured output, as data. A keyword that a dialect does not enforce is
 * omitted from the request and checked by the reader after the call; the author's schema always decides (C48).
 */

export interface Dialect {
  readonly name: string
  /** Validation keywords that are held to there. */
  readonly enforces: ReadonlySet<string>
  /** Formats that are held to there. */
  readonly formats: ReadonlySet<string>
  /** Objects must be closed. */
  readonly closed: boolean
  /** Every property must be required; optional ones become nullable. */
  readonly allRequired: boolean
  /** How references are written: kept under `$defs`, or written out (a recursive one cannot be). */
  readonly refs: 'defs' | 'inline'
  /** Recursive schemas are understood. */
  readonly recursion: boolean
  /** The root must be an object; others are wrapped into one. */
  readonly objectRoot: boolean
  /** A schema that allows anything can be said. */
  readonly anything: boolean
  readonly maxDepth: number
}

const structure = [
  'type',
  'enum',
  'const',
  'properties',
  'required',
  'items',
  'anyOf',
  'additionalProperties',
]
const numbers = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']
const commonFormats = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']
const strings = ['minLength', 'maxLength', 'pattern']
const lists = ['minItems', 'maxItems']

export const dialects = {
  openai: {
    name: 'openai',
    enforces: new Set([...structure, ...numbers, ...lists, 'pattern', 'format']),
    formats: new Set(commonFormats),
    closed: true,
    allRequired: true,
    refs: 'defs',
    recursion: true,
    objectRoot: true,
    anything: false,
    maxDepth: 10,
  },
  anthropic: {
    name: 'anthropic',
    enforces: new Set([...structure, 'format']),
    formats: new Set([...commonFormats, 'uri']),
    closed: true,
    allRequired: false,
    refs: 'defs',
    recursion: false,
    objectRoot: true,
    anything: false,
    maxDepth: 64,
  },
  google: {
    name: 'google',
    // What the package passes on of it; Google's own dialect is a little larger.
    enforces: new Set([...structure.slice(0, -1), 'format', 'minLength']),
    formats: new Set(['date-time', 'date', 'time']),
    closed: false,
    allRequired: false,
    refs: 'inline',
    recursion: false,
    objectRoot: false,
    anything: false,
    maxDepth: 64,
  },
  outlines: {
    name: 'outlines',
    enforces: new Set([...structure, ...strings, ...lists, 'oneOf', 'format', 'prefixItems']),
    formats: new Set(['date-time', 'time', 'date', 'uuid', 'email', 'uri']),
    closed: false,
    allRequired: false,
    refs: 'defs',
    recursion: false,
    objectRoot: false,
    anything: true,
    maxDepth: 64,
  },
  xgrammar: {
    name: 'xgrammar',
    enforces: new Set([
      ...structure,
      ...strings,
      ...lists,
      ...numbers.slice(0, 4),
      'oneOf',
      'format',
      'prefixItems',
    ]),
    formats: new Set([...commonFormats, 'uri']),
    closed: false,
    allRequired: false,
    refs: 'defs',
    recursion: true,
    objectRoot: false,
    anything: true,
    maxDepth: 64,
  },
} as const satisfies Record<string, Dialect>

export type DialectName = keyof typeof dialects
