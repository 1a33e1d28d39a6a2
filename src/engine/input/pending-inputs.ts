/**
 * The runs that external input is being written to. Their own appends wait for the disk meanwhile: an input is appended after
 * a read and a sync, so a run that is ahead of the disk would be faster every time, and the input would wait until it ends.
 */
export interface PendingInputs {
  /** Counts an input to the run; returns the function that ends it. */
  begin(runId: string): () => void
  has(runId: string): boolean
}

export function createPendingInputs(): PendingInputs {
  const counts = new Map<string, number>()
  return {
    begin(runId) {
      counts.set(runId, (counts.get(runId) ?? 0) + 1)
      return () => {
        const left = (counts.get(runId) ?? 1) - 1
        if (left === 0) counts.delete(runId)
        else counts.set(runId, left)
      }
    },
    has: (runId) => counts.has(runId),
  }
}
