/** Computes a value once for each object; the cache keeps no object alive. `given` must not change the value. */
export function memoize<K extends object, T, A = void>(make: (key: K, given: A) => T) {
  const known = new WeakMap<K, T>()
  return (key: K, given: A): T => {
    let value = known.get(key)
    if (value === undefined && !known.has(key)) {
      value = make(key, given)
      known.set(key, value)
    }
    return value as T
  }
}
