/** Label values that callers choose (capabilities, models) are bounded: a scraper pays for every one of them for ever. */

/** How many different values one label keeps. */
export const mostLabelValues = 200
/** What all further values are counted as. */
export const otherLabel = 'other'
const longestValue = 128

/** @example const model = boundedLabel(); model('openai/gpt-5') // 'openai/gpt-5', until there are 200 others */
export function boundedLabel(most = mostLabelValues): (value: string | undefined) => string {
  const known = new Set<string>()
  return (value) => {
    const label = (value === undefined || value === '' ? 'none' : value).slice(0, longestValue)
    if (known.has(label)) return label
    if (known.size >= most) return otherLabel
    known.add(label)
    return label
  }
}
