/** Those of the options that were given: an absent one stays absent. */
export function pick<T extends object, K extends keyof T>(
  options: T,
  keys: readonly K[],
): { [P in K]: Exclude<T[P], undefined> } {
  const entries = keys.filter((key) => options[key] !== undefined).map((key) => [key, options[key]])
  return Object.fromEntries(entries)
}
