/** Parses untrusted texts and schemas in another thread, so that they cannot block a server. */
import { createOffThreadReader } from 'proviso/output/off-thread'

const reader = createOffThreadReader({ deadlineMs: 2_000 })

const schema = { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'] }
const result = await reader.parse('I think it is {"answer": "42"}.', schema)
console.log(result.ok && result.value)

const hostile = { type: 'string', pattern: '(a+)+$', $ref: 'https://example.com/schema.json' }
const refused = await reader.compile(hostile)
console.log(refused.ok ? 'accepted' : refused.issues.map((issue) => issue.code))

await reader.close()

// Prints:
// { answer: 42 }
// [ 'schema/limit' ]
