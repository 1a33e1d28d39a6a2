/** Stands in for `regex.ts` in the light reader: it carries no second engine, and no server is made with it. */
import { compileNative } from '../native-regex.ts'

export const linearHint = 'Import "@proviso/reader/full"'

/** A pattern of an untrusted schema is refused: the native engine could take exponential time. */
export function linearRegex(): never {
  throw new SyntaxError('the light reader has no linear engine')
}

export function servesStrangers(): boolean {
  return false
}

export function regexEngine({ untrusted }: { readonly untrusted: boolean }) {
  return untrusted ? linearRegex : compileNative
}
