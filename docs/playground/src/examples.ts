/** Texts to begin with: what models really write. */
import { defaultOptions, type State } from './state.ts'

export interface Example extends State {
  readonly name: string
}

const person = JSON.stringify(
  {
    type: 'object',
    properties: {
      name: { type: 'string' },
      age: { type: 'integer', minimum: 0 },
      tags: { type: 'array', items: { enum: ['math', 'poetry', 'engines'] } },
    },
    required: ['name', 'age'],
    additionalProperties: false,
  },
  null,
  2,
)

const tasks = JSON.stringify(
  {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        task: { type: 'string' },
        done: { type: 'boolean' },
        due: { type: 'string', format: 'date' },
      },
      required: ['task', 'done'],
    },
  },
  null,
  2,
)

const example = (
  name: string,
  text: string,
  schema: string,
  options: Partial<State['options']> = {},
): Example => ({
  name,
  text,
  schema,
  options: { ...defaultOptions, ...options },
})

export const examples: readonly Example[] = [
  example(
    'Prose, other quotes, a trailing comma',
    "Sure! Here is the profile you asked for:\n\n```json\n{\n  'name': 'Ada Lovelace',\n  age: \"36\", // in years\n  tags: [Math, 'engines',],\n}\n```\n\nLet me know if you need anything else.",
    person,
  ),
  example(
    'A draft in a reasoning block, then a correction',
    '<think>\nMaybe {"name": "Ada", "age": 35}?\n</think>\n{"name": "Ada", "age": 35}\n\nActually, she was 36:\n{"name": "Ada", "age": 36}',
    person,
  ),
  example(
    'Encoded twice and wrapped',
    '"{\\"result\\": {\\"name\\": \\"Ada\\", \\"age\\": \\"36\\"}}"',
    person,
  ),
  example(
    'Cut off in the middle',
    '[\n  {"task": "Write the notes", "done": true, "due": "1843-09-01"},\n  {"task": "Build the engi',
    tasks,
    { acceptTruncated: true },
  ),
  example(
    'Separate values for a list',
    '{"task": "Read", "done": yes}\n{"task": "Write", "done": False}',
    tasks,
  ),
  example(
    'Issues: a missing member and a negative age',
    '{"nmae": "Ada", "age": -36, "tags": ["music"]}',
    person,
  ),
]
