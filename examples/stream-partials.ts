/** Shows parts of an answer while it is still being written; what comes at the end is the same as `parse` gives. */
import { createReader } from 'proviso/output'

const schema = {
  type: 'object',
  properties: { title: { type: 'string' }, steps: { type: 'array', items: { type: 'string' } } },
  required: ['title', 'steps'],
}
const chunks = ['Here: {"title": "Te', 'a", "steps": ["Boil wa', 'ter", "Wait", ', '"Drink"]', '}']

const reader = createReader(schema)
for (const chunk of chunks) {
  const { partial, finished } = reader.push(chunk)
  // A partial is a live, unvalidated view: print it now or copy it.
  console.log([JSON.stringify(partial), ...finished].join(' '))
}

const result = reader.end()
console.log(result.ok && JSON.stringify(result.value))

// Prints:
// {"title":"Te"}
// {"title":"Tea","steps":["Boil wa"]} /title
// {"title":"Tea","steps":["Boil water","Wait"]} /steps/0
// {"title":"Tea","steps":["Boil water","Wait","Drink"]} /steps/1 /steps/2 /steps
// {"title":"Tea","steps":["Boil water","Wait","Drink"]}
// {"title":"Tea","steps":["Boil water","Wait","Drink"]}
