/** The error codes that the reader can throw. */

/**
 * What the caller can do about an error: fix the input, retry later, report a bug, or nothing because it requested the
 * stop.
 */
export type Fate = 'fix' | 'retry' | 'internal' | 'stopped'

export interface ErrorRow {
  readonly fate: Fate
  /** Exit code of the CLI: 1 internal, 2 usage, configuration or unreadable input, 130 interrupted. */
  readonly exitCode: 1 | 2 | 130
  /** Default hint, used when the thrower passes none. */
  readonly hint: string
}

export const readerErrors = {
  'schema/invalid': { fate: 'fix', exitCode: 2, hint: 'Correct the schema at the location in `at`' },
  'schema/limit': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Simplify the schema, or leave out `untrusted` if it is yours',
  },
  'json/unrepresentable': { fate: 'fix', exitCode: 2, hint: 'Pass plain JSON data' },
  'output/invalid': { fate: 'fix', exitCode: 2, hint: 'Correct each entry of `issues`' },
  'option/invalid': { fate: 'fix', exitCode: 2, hint: 'Correct the option that the message names' },
} as const satisfies Record<string, ErrorRow>
