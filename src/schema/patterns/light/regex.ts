/** Replaces `regex.ts` in the light reader, which has no second engine: it rejects patterns of untrusted schemas. */
import { compileNative } from '../native-regex.ts'

export const linearHint = 'Import "@proviso/reader/full"'

/** A pattern of an untrusted schema is refused: the native engine could take exponential time. */
export function linearRegex(): never {
  throw new SyntaxError('the light reader has no linear engine')
}

export function regexEngine({ untrusted = false }: { readonly untrusted?: boolean }) {
  return untrusted ? linearRegex : compileNative
}
