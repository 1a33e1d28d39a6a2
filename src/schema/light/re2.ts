/** Stands in for `re2.ts` in the light reader, which carries no second regex engine. */

/** A pattern of an untrusted schema is refused: the native engine could take exponential time. */
export function compileLinear(_pattern: string): (text: string) => boolean {
  throw new SyntaxError('the light reader has no linear engine; import "@proviso/reader/full"')
}
