/** The JSON Schema of schemas whose library does not give it: Zod 3, Zod 4.0 and 4.1, Valibot. Called for Standard Schema values. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonSchema } from '../json-schema.ts'
import { buildJsonSchema } from './build.ts'
import { describeValibot } from './valibot.ts'
import { describeZod } from './zod.ts'

/**
 * Reads the schema's own objects, so that no library has to be imported. It guides only, and may say less than the library
 * checks; `undefined` when nothing is known of the library, or when the objects are not as expected.
 */
export function librarySchema(schema: StandardSchemaV1): JsonSchema | undefined {
  const { vendor } = schema['~standard']
  const describe = vendor === 'valibot' ? describeValibot : vendor === 'zod' ? describeZod : undefined
  try {
    return describe && buildJsonSchema(schema, describe)
  } catch {
    return undefined
  }
}
