/** Replaces `limit-words.ts` in the light reader, which names the limit only. */
export function describeLimit(): { readonly what: string; readonly hint?: string } {
  return { what: 'is not allowed' }
}
