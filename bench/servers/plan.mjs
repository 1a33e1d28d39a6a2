/** What is asked of the server: five agents, one after the other, 50 ms each. */

export const agentMs = 50
export const agents = 5
/** What a run would take if nothing else took any time. */
export const idealMs = agents * agentMs

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const envelope = { objective: 'Measure', inputs: { text: 'x' }, outputContract: { schema: text } }

export const chain = JSON.stringify({
  envelope,
  draft: {
    nodes: Array.from({ length: agents }, (_, index) => ({
      id: `n${index}`,
      capabilityId: 'agent',
      inputs: index === 0 ? {} : { text: { node: `n${index - 1}`, pointer: '/text' } },
    })),
    output: { node: `n${agents - 1}` },
  },
})

/** One that does not end. */
export const endless = JSON.stringify({
  envelope,
  draft: { nodes: [{ id: 'n', capabilityId: 'never', inputs: {} }], output: { node: 'n' } },
})
