import { parse } from 'proviso/output'

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' }, langs: { type: 'array' } },
  required: ['name', 'age'],
}
const answer =
  "Sure! Here you go:\n```json\n{'name': 'Ada', age: '36', 'langs': ['en', 'fr',]\n```\nAnything else?"
const result = parse(answer, schema)
console.log(result.ok ? result.value : result.issues)
console.log([...new Set(result.repairs.map((repair) => repair.rule))].join(' '))

// Prints:
// { name: 'Ada', age: 36, langs: [ 'en', 'fr' ] }
// surroundings single-quotes bare-key trailing-comma missing-closer str->int
