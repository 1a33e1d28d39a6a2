/** Replaces `json-error.ts` in the light reader: the engine's own description of the error. */
export function describeFault(text: string): string {
  try {
    JSON.parse(text)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
