/** Checks the prices of models that a user gives. */
import { isObject } from '../../base/json.ts'
import { type Check, each, must, object, type Rows, rowIssues } from '../../base/option-rows.ts'

const dollars = must(
  (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
  'a number of dollars, 0 or more',
)

const priceRows = {
  model: must(
    (value) => typeof value === 'string' && /^(.+\/.+|\*)$/.test(value),
    'the name of a model with its provider',
    'Write provider/model, or provider/* for all models of a provider',
  ),
  inputPerMillion: dollars,
  outputPerMillion: dollars,
} satisfies Rows

const members = ['model', 'inputPerMillion', 'outputPerMillion'] as const

/** Checks `prices`: a member that is missing, misspelled or negative would make a limit on costs ineffective. */
export const checkPrices: Check = each((value, at) =>
  isObject(value) ? rowIssues(withMissing(value), at, priceRows) : object(value, at),
)

/** Puts missing members last, so that a misspelled one is reported first. */
function withMissing(given: object): { readonly [name: string]: unknown } {
  const missing = members.filter((name) => !Object.hasOwn(given, name))
  return { ...given, ...Object.fromEntries(missing.map((name) => [name, null])) }
}
