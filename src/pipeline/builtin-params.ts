/** The parameters of the built-ins. */
import type { BuiltinName } from './pipeline.ts'

export const builtinParams: { readonly [name in BuiltinName]: readonly string[] } = {
  extract_from_text: ['schema', 'model'],
  wrap_dict: ['key'],
  ensure_object: ['key'],
}
