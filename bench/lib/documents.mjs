/** Documents of a wanted size, intact and broken in the ways models break them; the meaning is always the same. */
import { createRandom } from '../../dist/testing/index.js'

export const schema = {
  type: 'object',
  properties: {
    items: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          id: { type: 'integer' },
          name: { type: 'string' },
          tags: { type: 'array', items: { type: 'string' } },
          price: { type: 'number' },
          active: { type: 'boolean' },
          note: { type: 'string' },
        },
        required: ['id', 'name', 'tags', 'price', 'active', 'note'],
        additionalProperties: false,
      },
    },
  },
  required: ['items'],
  additionalProperties: false,
}

/** A value whose JSON text is about `bytes` long; the same every time. */
export function makeValue(bytes) {
  const random = createRandom(42)
  const items = []
  for (let written = 0; written < bytes; ) {
    const item = {
      id: items.length,
      name: random.pick(['Ann Lee', 'José Álvarez', '王小明', 'Zoë Müller']),
      tags: random.some(['red', 'green', 'urgent', 'draft', 'größe'], random.int(0, 3)),
      price: random.int(1, 99999) / 100,
      active: random.chance(),
      note: random.pick([
        'Deliver to the back gate',
        'See {below} and [1], please: it matters',
        'She said "yes" twice',
      ]),
    }
    items.push(item)
    written += JSON.stringify(item).length + 1
  }
  return { items }
}

/** How each kind of damage writes the same value. */
export const breakers = {
  'trailing commas': (value) => write(value, { trailing: true }),
  'single quotes': (value) =>
    write(value, { quote: (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` }),
  comments: (value) => write(value, { comment: ' // as in the text' }),
  'unquoted keys': (value) => write(value, { key: (key) => key }),
  'missing closers': (value) => write(value, {}).replace(/\s*\]\s*\}\s*$/, ''),
  'fence and prose': (value) =>
    `Here's what I found:\n\n\`\`\`json\n${write(value, {})}\n\`\`\`\n\nThat's all.`,
  'unescaped quotes': (value) => write(value, { quote: (text) => `"${text}"` }),
}

const members = (value) => value.items.map((item) => JSON.stringify(item))
const single = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** Further ways in which models write a document, long ones among them. */
export const shapes = {
  ...breakers,
  'trailing commas in lists': (value) => `{"items": [${members(value).join(', ')},]}`,
  'Python literals': (value) =>
    write(value, { quote: single }).replaceAll(': true', ': True').replaceAll(': false', ': False'),
  'missing commas': (value) => `{"items": [\n${members(value).join('\n')}\n]}`,
  'missing commas between members': (value) =>
    JSON.stringify(value, null, 2).replaceAll(/,\n(?=\s+")/g, '\n'),
  'prose around': (value) => `Sure, here you are: ${JSON.stringify(value)} I hope that this helps.`,
  'lines of JSON': (value) => members(value).join('\n'),
  'nested wrappers': (value) => `Result: ${JSON.stringify({ result: { data: [value] } })}`,
  'encoded as a string': (value) => JSON.stringify(JSON.stringify(value)),
  'escaped without quotes': (value) => JSON.stringify(JSON.stringify(value)).slice(1, -1),
  'smart quotes': (value) => write(value, { quote: (text) => `“${text.replaceAll('"', "'")}”` }),
  'long strings with escapes': (value) =>
    `{'items': [], 'note': ${JSON.stringify(JSON.stringify(value, null, 1))}}`,
  'cut off': (value) => JSON.stringify(value).slice(0, -40),
  'full-width punctuation': (value) => JSON.stringify(value).replaceAll(',"', '，"').replaceAll('":', '"：'),
}

function write(value, { trailing = false, comment = '', quote = JSON.stringify, key = quote }) {
  const end = trailing ? ',' : ''
  const lines = value.items.map((item) => {
    const members = Object.entries(item).map(([name, one]) => {
      const text =
        typeof one === 'string'
          ? quote(one)
          : Array.isArray(one)
            ? `[${one.map(quote).join(', ')}${one.length > 0 ? end : ''}]`
            : String(one)
      return `${key(name)}: ${text}`
    })
    return `    {${members.join(', ')}${end}}`
  })
  return `{\n  ${key('items')}: [${comment}\n${lines.join(`,${comment}\n`)}${end}\n  ]${end}\n}`
}
