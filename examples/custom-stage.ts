/** A stage of your own in the chain: it sees the value before the final validation, and its change is recorded. */
import { type CustomStage, parse } from 'proviso/output'

const germanDates: CustomStage = {
  name: 'german-dates',
  run(value) {
    if (typeof value !== 'object' || value === null || !('due' in value)) return undefined
    const match = /^(\d{2})\.(\d{2})\.(\d{4})$/.exec(String(value.due))
    return match ? { ...value, due: `${match[3]}-${match[2]}-${match[1]}` } : undefined
  },
}

const schema = {
  type: 'object',
  properties: { task: { type: 'string' }, due: { type: 'string', format: 'date' } },
  required: ['task', 'due'],
}

const result = parse('Gerne: {"task": "Steuern", "due": "31.07.2026"}', schema, { stages: [germanDates] })
console.log(result.ok ? result.value : result.issues)
console.log(result.repairs.map(({ stage, rule }) => `${stage}/${rule}`).join(' '))

// Prints:
// { task: 'Steuern', due: '2026-07-31' }
// extract/surroundings custom/german-dates
