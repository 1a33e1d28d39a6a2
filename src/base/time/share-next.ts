/**
 * Shares calls of a function that reads a state: callers that come while a call is running get the result of the next one,
 * because the running one may have read too early. At most one call runs at a time.
 */
export function shareNext<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  let next: Promise<T> | undefined
  const call = (): Promise<T> => {
    if (running !== undefined) {
      next ??= running
        .catch(() => {})
        .then(() => {
          next = undefined
          return call()
        })
      return next
    }
    running = work().finally(() => {
      running = undefined
    })
    return running
  }
  return call
}
