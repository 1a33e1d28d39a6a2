// @ts-check
/** Our own column of the page of slips; `parse` is passed in, so that a test can ask the sources. */

/**
 * @param {(text: string, schema: any) => import('../../src/output/index.ts').ParseResult<unknown>} parse
 * @param {import('./cases.mjs').Slip} slip
 * @returns {import('./page.mjs').Answer}
 */
export function ownAnswer(parse, { text, schema }) {
  const result = parse(text, schema)
  if (result.ok) return { ok: true, value: result.value }
  const [issue] = result.issues
  const location = issue && 'pointer' in issue.at && issue.at.pointer !== '' ? `${issue.at.pointer}: ` : ''
  return { ok: false, reason: `${location}${issue?.message ?? 'refused'}` }
}
