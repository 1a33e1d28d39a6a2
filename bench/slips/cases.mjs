// @ts-check
/**
 * Twenty slips of models: a text, the schema that was asked for, the value that a careful person reads out of it, and
 * why. The texts are written for this page, in the manner of real models. `expected: undefined`: no value must come out.
 */

/**
 * @typedef {object} Slip
 * @property {string} title
 * @property {string} text
 * @property {Record<string, any>} schema
 * @property {any} expected
 * @property {string} why
 */

/** @param {Record<string, any>} properties @param {readonly string[]} [required] */
const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required })
const string = { type: 'string' }
const integer = { type: 'integer' }
const number = { type: 'number' }
const boolean = { type: 'boolean' }
/** @param {object} items */
const list = (items) => ({ type: 'array', items })

const ticket = object({
  title: string,
  priority: { enum: ['low', 'medium', 'high'] },
  labels: list(string),
})

/** @type {readonly Slip[]} */
export const slips = [
  {
    title: 'A fence with prose around it',
    text: 'Sure! Here is the ticket you asked for:\n\n```json\n{\n  "title": "Login page is blank on Safari",\n  "priority": "high",\n  "labels": ["bug", "frontend"]\n}\n```\n\nLet me know if you would like me to add steps to reproduce [optional].',
    schema: ticket,
    expected: { title: 'Login page is blank on Safari', priority: 'high', labels: ['bug', 'frontend'] },
    why: 'The fenced block is the answer; the bracket in the last sentence is prose.',
  },
  {
    title: 'Comments, an ellipsis and trailing commas',
    text: '{\n  // extracted from the invoice header\n  "invoice": "INV-2041",\n  "lines": [\n    {"sku": "A-100", "quantity": 2,},\n    {"sku": "B-220", "quantity": 1,}, // see https://example.com/b-220\n    ...\n  ],\n}',
    schema: object({ invoice: string, lines: list(object({ sku: string, quantity: integer })) }),
    expected: {
      invoice: 'INV-2041',
      lines: [
        { sku: 'A-100', quantity: 2 },
        { sku: 'B-220', quantity: 1 },
      ],
    },
    why: 'None of the extras carries a value.',
  },
  {
    title: 'A Python dict',
    text: "{'title': \"Joe's Diner\", 'rating': 4.5, 'open_now': True, 'website': None, 'tags': ('brunch', 'cheap'),}",
    schema: object({
      title: string,
      rating: number,
      open_now: boolean,
      website: { type: ['string', 'null'] },
      tags: list(string),
    }),
    expected: {
      title: "Joe's Diner",
      rating: 4.5,
      open_now: true,
      website: null,
      tags: ['brunch', 'cheap'],
    },
    why: '`True`, `None`, single quotes and a tuple have one meaning each.',
  },
  {
    title: 'Unescaped quotes inside a string',
    text: '{"speaker": "Ms. Okafor", "quote": "He said "ship it", and then he left, which was "unusual"", "page": 12}',
    schema: object({ speaker: string, quote: string, page: integer }),
    expected: {
      speaker: 'Ms. Okafor',
      quote: 'He said "ship it", and then he left, which was "unusual"',
      page: 12,
    },
    why: 'A quote ends a string only where a member can follow.',
  },
  {
    title: 'Cut off by the token limit, in the middle of a required string',
    text: '```json\n{\n  "city": "Lisbon",\n  "days": 3,\n  "plan": "Start at the Miradouro da Gra',
    schema: object({ city: string, days: integer, plan: string }),
    expected: undefined,
    why: 'The plan is not known. A caller who wants the cut text can say so (`acceptTruncated`); by default it must not pass as the answer.',
  },
  {
    title: 'Cut off between the items of a list',
    text: '{"query": "solar inverters", "results": [{"name": "Sunny 5", "watts": 5000}, {"name": "Volta 3", "watts": 3000}, {"na',
    schema: object({ query: string, results: list(object({ name: string, watts: integer })) }),
    expected: {
      query: 'solar inverters',
      results: [
        { name: 'Sunny 5', watts: 5000 },
        { name: 'Volta 3', watts: 3000 },
      ],
    },
    why: 'Two items are whole, the third has no content yet. Proviso takes it as an item without its properties and refuses; with `salvage: true` it drops it and records that.',
  },
  {
    title: 'A draft in the reasoning, the answer after it',
    text: '<think>\nThe user wants a refund decision. First idea: {"decision": "reject", "amount": 0}. But the policy allows 30 days, and this is day 12, so approve.\n</think>\n\n{"decision": "approve", "amount": 49}',
    schema: object({ decision: { enum: ['approve', 'reject'] }, amount: integer }),
    expected: { decision: 'approve', amount: 49 },
    why: 'The draft is valid too, and it is the opposite of the answer.',
  },
  {
    title: 'The whole answer encoded as a string',
    text: '"{\\"name\\": \\"Grace Hopper\\", \\"born\\": 1906, \\"fields\\": [\\"compilers\\", \\"COBOL\\"]}"',
    schema: object({ name: string, born: integer, fields: list(string) }),
    expected: { name: 'Grace Hopper', born: 1906, fields: ['compilers', 'COBOL'] },
    why: 'Encoded twice, as tool arguments often are.',
  },
  {
    title: 'Wrapped in {"result": …}',
    text: '{"status": "success", "result": {"sentiment": "negative", "score": 0.91}}',
    schema: object({ sentiment: { enum: ['positive', 'neutral', 'negative'] }, score: number }),
    expected: { sentiment: 'negative', score: 0.91 },
    why: 'The schema knows no wrapper, and one value inside fits it.',
  },
  {
    title: 'Numbers as people write them',
    text: '{"company": "Acme", "revenue_usd": "$1,234,500", "growth_percent": "12.5%", "employees": "1,204"}',
    schema: object({ company: string, revenue_usd: number, growth_percent: number, employees: integer }),
    expected: { company: 'Acme', revenue_usd: 1234500, growth_percent: 12.5, employees: 1204 },
    why: 'Unit and separators are unambiguous, and the names of the fields say the unit.',
  },
  {
    title: 'A number with a unit and a word',
    text: '{"dish": "Ramen", "servings": "2", "minutes": "about 45 minutes"}',
    schema: object({ dish: string, servings: integer, minutes: integer }),
    expected: { dish: 'Ramen', servings: 2, minutes: 45 },
    why: 'A person reads 45.',
  },
  {
    title: 'An enum in another spelling',
    text: '{"task": "Renew certificate", "status": "In Progress", "owner": "kim"}',
    schema: object({ task: string, status: { enum: ['todo', 'in_progress', 'done'] }, owner: string }),
    expected: { task: 'Renew certificate', status: 'in_progress', owner: 'kim' },
    why: 'Exactly one listed value has these letters.',
  },
  {
    title: 'One value where a list is wanted',
    text: '{"title": "Printer on fire", "priority": "High", "labels": "hardware"}',
    schema: ticket,
    expected: { title: 'Printer on fire', priority: 'high', labels: ['hardware'] },
    why: 'A list of one.',
  },
  {
    title: 'A correction in the same message',
    text: 'Here is the booking: {"guests": 4, "date": "2026-03-14", "time": "19:00"}\n\nActually, you wrote that two more people will join. Corrected:\n{"guests": 6, "date": "2026-03-14", "time": "19:00"}',
    schema: object({ guests: integer, date: string, time: string }),
    expected: { guests: 6, date: '2026-03-14', time: '19:00' },
    why: 'Both are valid; the text itself withdraws the first.',
  },
  {
    title: 'Smart quotes',
    text: '{\n  “headline”: “Rain expected”,\n  “body”: “Bring an umbrella; it’s going to pour.”,\n  “urgent”: false\n}',
    schema: object({ headline: string, body: string, urgent: boolean }),
    expected: { headline: 'Rain expected', body: 'Bring an umbrella; it’s going to pour.', urgent: false },
    why: 'Typographic quotes stand for quotes; the apostrophe is text.',
  },
  {
    title: 'A tool call around the arguments',
    text: 'I will look that up.\n<tool_call>\n{"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo\\", \\"unit\\": \\"celsius\\"}"}\n</tool_call>',
    schema: object({ city: string, unit: { enum: ['celsius', 'fahrenheit'] } }),
    expected: { city: 'Oslo', unit: 'celsius' },
    why: 'The schema is that of the arguments; name and call are the wrapper.',
  },
  {
    title: 'One object per line where a list is wanted',
    text: 'Found three entries:\n{"word": "sol", "lang": "pt"}\n{"word": "Sonne", "lang": "de"}\n{"word": "sole", "lang": "it"}',
    schema: list(object({ word: string, lang: string })),
    expected: [
      { word: 'sol', lang: 'pt' },
      { word: 'Sonne', lang: 'de' },
      { word: 'sole', lang: 'it' },
    ],
    why: 'All three, in order.',
  },
  {
    title: 'Keys in another spelling, and a comma that is missing',
    text: '{\n  "Order ID": "7731"\n  "shipTo": "Ghent",\n  "Total Items": 3\n}',
    schema: object({ order_id: string, ship_to: string, total_items: integer }),
    expected: { order_id: '7731', ship_to: 'Ghent', total_items: 3 },
    why: 'Each key can mean only one property.',
  },
  {
    title: 'Citations before the value',
    text: 'According to [1] and the follow-up study [3], the effect is small. Summary:\n{"effect_size": 0.12, "sources": [1, 3]}',
    schema: object({ effect_size: number, sources: list(integer), note: string }, []),
    expected: { effect_size: 0.12, sources: [1, 3] },
    why: '`[1]` is prose. Every property is optional, so an empty object would be valid, and wrong.',
  },
  {
    title: 'An apology without a value',
    text: 'I’m sorry, but I can’t share personal data such as {name} or {email}. If you have the customer’s consent [required], please contact support at extension 4021.',
    schema: object({ name: string, email: string, phone: string }, []),
    expected: undefined,
    why: 'There is nothing to read. An empty object would be valid for the schema, and a lie.',
  },
]
