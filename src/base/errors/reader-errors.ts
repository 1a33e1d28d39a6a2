/** The error codes that the reader can throw. */

/**
 * What the caller can do about an error: fix the input, retry later, report a bug, or nothing because it requested the
 * stop.
 */
export type Fate = 'mend' | 'retry' | 'internal' | 'stopped'

export interface ErrorRow {
  readonly fate: Fate
  /** Exit code of the CLI: 1 internal, 2 usage, configuration or unreadable input, 130 interrupted. */
  readonly exitCode: 1 | 2 | 130
  /** Default hint, used when the thrower passes none. */
  readonly hint: string
}

export const readerErrors = {
  'schema/invalid': { fate: 'mend', exitCode: 2, hint: 'Correct the schema at the place named' },
  'schema/limit': {
    fate: 'mend',
    exitCode: 2,
    hint: 'Simplify the schema, or leave out `untrusted` if it is your own',
  },
  'json/unrepresentable': { fate: 'mend', exitCode: 2, hint: 'Pass plain JSON data' },
  'output/invalid': { fate: 'mend', exitCode: 2, hint: 'Look at the issues: each says where and why' },
  'option/invalid': { fate: 'mend', exitCode: 2, hint: 'Correct the option that is named' },
} as const satisfies Record<string, ErrorRow>
