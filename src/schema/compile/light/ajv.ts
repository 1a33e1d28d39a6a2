/** Stands in for `ajv.ts` in the light reader: every schema is interpreted. */
export const isCompiler: boolean = false

export function compileWithAjv(): undefined {
  return undefined
}
