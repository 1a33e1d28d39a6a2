/** Generates feedback for the model when its answer does not satisfy the contract. */
import { feedback, parse } from 'proviso/output'

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, population: { type: 'integer', minimum: 1 } },
  required: ['city', 'population'],
}

const result = parse('{"city": "Lisbon", "population": "about half a million"}', schema)
if (!result.ok) console.log(feedback(result.issues))

// Prints:
// The JSON is not valid yet. Correct this:
// - /population: must be integer, but is the string "about half a million". Expected "integer", got "about half a million".
// Return only the corrected JSON.
