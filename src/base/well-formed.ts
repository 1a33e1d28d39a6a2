/** Whether a text can leave as UTF-8: halves of surrogate pairs have no form in it, nor in URLs and headers. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}
