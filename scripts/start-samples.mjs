// @ts-check
/** What models really write, for `npm start`: a text, the schema that the caller wanted, and why plain `JSON.parse` gives up. */

const person = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer' },
    roles: { type: 'array', items: { enum: ['admin', 'author', 'reader'] } },
  },
  required: ['name', 'age'],
  additionalProperties: false,
}

const order = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    total: { type: 'number' },
    paid: { type: 'boolean' },
    lines: {
      type: 'array',
      items: {
        type: 'object',
        properties: { sku: { type: 'string' }, quantity: { type: 'integer' } },
        required: ['sku', 'quantity'],
      },
    },
  },
  required: ['id', 'total', 'paid', 'lines'],
}

export const samples = [
  {
    title: 'Prose around a fence, numbers as strings, an enum in the wrong case',
    text: 'Sure! Here is the profile you asked for:\n\n```json\n{"name": "Ada Lovelace", "age": "36", "roles": ["Author"],}\n```\nLet me know if you need anything else.',
    schema: person,
  },
  {
    title: 'French prose, single quotes, Python literals',
    text: "Voici la commande :\n{'id': 'FR-7', 'total': 49.9, 'paid': True, 'lines': [{'sku': 'thé', 'quantity': 2}]}\nBonne journée !",
    schema: order,
  },
  {
    title: 'Chinese prose, full-width punctuation',
    text: '好的，结果如下：｛“name”：“李雷”，“age”：28，“roles”：［“reader”］｝',
    schema: person,
  },
  {
    title: 'Reasoning with braces in it, then the answer inside a wrapper, as a string',
    text: '<think>The schema says {"name": …, "age": …}. Maybe {"name": "Bob", "age": 1}?</think>\n{"result": "{\\"name\\": \\"Grace\\", \\"age\\": 85}"}',
    schema: person,
  },
  {
    title: 'German prose, a comment, a missing comma, quotes inside a string',
    text: 'Gerne! {"id": "DE-1", // Bestellnummer\n "total": 12.5 "paid": false, "lines": [{"sku": "Buch "Faust" I", "quantity": 1}]}',
    schema: order,
  },
  {
    title: 'A value that is not there is never made up',
    text: 'こちらです: {"name": "さくら", "roles": ["admin"]}',
    schema: person,
  },
]
