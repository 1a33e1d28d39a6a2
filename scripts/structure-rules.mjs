// @ts-check
/** The limits of the structure of `src`, read by `structure.mjs`. */

/** @type {import('./structure.mjs').StructureRules} */
export const structureRules = {
  /** Maximum number of source files directly in one folder, without tests. */
  filesPerFolder: 15,
  /** Maximum number of lines of one function, including nested functions. */
  functionLines: 100,
  /** Folders with one file per item, which may hold more files. */
  lists: {
    'src/cli/commands': 'one command each',
    'src/pipeline/lint/rules': 'one lint rule each',
    'src/server/routes': 'one resource each',
    'src/testing/noise/damage': 'one family of damage each',
  },
  /** Files whose functions are test suites, which may be longer. */
  suites: ['src/testing/store-suite.ts', 'src/testing/stores/'],
  /** Exported functions that may end in `Of`: `anyOf` is a keyword of JSON Schema. */
  namedOf: ['buildAnyOf'],
  /** Functions that are still to be split; they may not grow. */
  longer: {},
}
