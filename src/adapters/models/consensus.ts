/** How far several plans say the same: the mean over all pairs of the share of words they have in common (Jaccard). */

export function agreement(plans: readonly string[]): number {
  const words = plans.map((plan) => new Set(plan.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []))
  let [sum, pairs] = [0, 0]
  for (const [index, one] of words.entries()) {
    for (const other of words.slice(index + 1)) {
      const shared = [...one].filter((word) => other.has(word)).length
      const all = new Set([...one, ...other]).size
      sum += all === 0 ? 1 : shared / all
      pairs++
    }
  }
  return pairs === 0 ? 1 : sum / pairs
}
