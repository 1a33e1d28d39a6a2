/** Returns the newest row of each node among the rows of all plan versions, in their order. */
export function currentNodes<T extends { readonly nodeId: string; readonly planVersion: number }>(
  rows: readonly T[],
): T[] {
  const newest = new Map<string, T>()
  for (const row of rows) {
    const known = newest.get(row.nodeId)
    if (known === undefined || known.planVersion <= row.planVersion) newest.set(row.nodeId, row)
  }
  return rows.filter((row) => newest.get(row.nodeId) === row)
}
