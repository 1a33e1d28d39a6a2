/** The schemas, the draft and the envelope of the agent of the tests; without a test framework, for processes of their own. */
export const answerSchema = {
  type: 'object',
  properties: { answer: { type: 'string' }, sources: { type: 'array', items: { type: 'string' } } },
  required: ['answer', 'sources'],
  additionalProperties: false,
} as const

export const query = {
  type: 'object',
  properties: { query: { type: 'string' } },
  required: ['query'],
  additionalProperties: false,
} as const

export const draft = {
  nodes: [{ id: 'research', capabilityId: 'researcher', inputs: { question: { value: 'Why tea?' } } }],
}

export const envelope = { objective: 'Research tea', outputContract: { schema: answerSchema } }
