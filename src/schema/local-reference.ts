/** Local references of a JSON Schema. */

/** The text behind `#`, percent escapes resolved where they are sound. */
export function decodeFragment(ref: string): string {
  const fragment = ref.slice(ref.indexOf('#') + 1)
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}
