/** JSON inside a string whose quotes were escaped unevenly: `"{\\"a\\\":\"b"}"` with one, two, three backslashes or none. */

/**
 * The text without the backslashes before its quotes, if that makes it strict JSON and it is none as it stands; else the
 * text. Asked only of strings with a quote that nothing escapes, so that what was escaped soundly is never touched.
 */
export function evened(text: string): string {
  if (!/^\s*[{[]/.test(text) || !text.includes('\\"') || isJson(text)) return text
  const even = text.replace(/\\+"/g, '"')
  return isJson(even) ? even : text
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
