// @ts-check
/**
 * A small team of capabilities with a scripted model, for the screenshots and the tests of the console: careless JSON that has
 * to be repaired, an answer without much confidence, a rejected text that is written again, and an agent that asks before a
 * tool acts.
 */

/** @typedef {typeof import('../src/index.ts')} Package */
/** @typedef {import('../src/index.ts').Provider} Provider */

const brief = {
  type: 'object',
  properties: { topic: { type: 'string' } },
  required: ['topic'],
}
export const post = {
  type: 'object',
  properties: {
    headline: { type: 'string', title: 'Headline', maxLength: 80 },
    body: { type: 'string', title: 'Body' },
    rating: { type: 'integer', title: 'Rating', minimum: 1, maximum: 5 },
    tags: { type: 'array', title: 'Tags', items: { type: 'string' }, maxItems: 4 },
  },
  required: ['headline', 'body', 'rating'],
}
const facts = {
  type: 'object',
  properties: { facts: { type: 'array', items: { type: 'string' } } },
  required: ['facts'],
}
const mail = {
  type: 'object',
  properties: { to: { type: 'string' }, text: { type: 'string' } },
  required: ['to', 'text'],
  additionalProperties: false,
}

/** Answers by the name of the model. @returns {Provider} */
export function demoProvider() {
  return {
    name: 'demo',
    models: ['writer', 'helper', 'assistant'],
    tools: true,
    async generate(request) {
      const usage = { inputTokens: 420, outputTokens: 96, costUsd: 0.0021 }
      const { model, prompt, messages = [], onText } = request
      if (model === 'helper') return helperTurn(messages)
      const isRework = /reject|warmer/i.test(prompt)
      const value = {
        headline: isRework ? 'First flush, warmly poured' : 'First flush is here',
        body: isRework
          ? 'The spring leaves have arrived, and the kettle is on for you.'
          : 'The spring leaves have arrived from Darjeeling.',
        rating: isRework ? 5 : 4,
        tags: ['tea', 'spring'],
      }
      const plain = request.primary
        ? JSON.stringify({
            primary_output: JSON.stringify(value),
            confidence: 0.62,
            confidence_type: 'verbalized',
            escalate: false,
          })
        : `Here is the post you asked for:\n\`\`\`json\n{\n  headline: '${value.headline}',\n  "body": "${value.body}",\n  "rating": "${value.rating}",\n  "tags": ["tea", "spring",],\n}\n\`\`\`\nLet me know if it should be shorter!`
      for (let at = 0; onText && at < plain.length; at += 24) onText(plain.slice(at, at + 24))
      return { kind: 'text', text: plain, finish: 'stop', usage }
    },
  }
}

/**
 * An agent that writes a mail, and answers when it was sent or refused.
 * @param {readonly { readonly role: string }[]} messages
 * @returns {import('../src/index.ts').ModelAnswer}
 */
function helperTurn(messages) {
  const usage = { inputTokens: 310, outputTokens: 40, costUsd: 0.0013 }
  const isFirst = !messages.some(({ role }) => role === 'assistant')
  if (!isFirst) {
    const text = JSON.stringify({ answer: 'Ann has a mail about the tea.' })
    return { kind: 'text', text, finish: 'stop', usage, parts: [{ type: 'text', text }] }
  }
  const input = JSON.stringify({ to: 'ann@example.com', text: 'The tea is here' })
  return {
    kind: 'text',
    text: '',
    finish: 'stop',
    usage,
    parts: [
      { type: 'text', text: 'I will send a short mail first.' },
      { type: 'tool-call', toolCallId: 'call-1', toolName: 'mail_send', input },
    ],
  }
}

/** @param {Package} pkg */
export function demoCapabilities({ defineCapability, defineAgent, tool }) {
  /** @type {{ to: string, text: string }[]} */
  const sent = []
  const capabilities = [
    defineCapability({
      capabilityId: 'research.topic',
      displayName: 'Topic research',
      summary: 'Collects facts about a topic',
      inputContract: brief,
      outputContract: facts,
      idempotent: true,
      run: () => ({ facts: ['First flush is picked in March.', 'Darjeeling lies at 2,000 m.'] }),
    }),
    defineCapability({
      capabilityId: 'copy.writer',
      displayName: 'Copywriter',
      summary: 'Writes a post about a topic',
      kind: 'model',
      inputContract: { type: 'object', properties: { topic: { type: 'string' }, facts: { type: 'array' } } },
      outputContract: post,
      preferredModels: ['demo/writer'],
    }),
    defineCapability({
      capabilityId: 'copy.check',
      displayName: 'Style check',
      summary: 'Checks a post against the style guide',
      inputContract: { type: 'object' },
      outputContract: {
        type: 'object',
        properties: { approvedBy: { type: 'string' } },
        required: ['approvedBy'],
      },
      idempotent: true,
      run: () => ({ approvedBy: 'style guide 3' }),
    }),
    defineCapability({
      capabilityId: 'legal.review',
      displayName: 'Legal review',
      summary: 'A lawyer reads the text',
      kind: 'human',
      inputContract: { type: 'object', properties: { topic: { type: 'string' } } },
      outputContract: {
        type: 'object',
        properties: {
          verdict: { enum: ['good', 'bad'], title: 'Verdict' },
          reason: { type: 'string', title: 'Reason' },
        },
        required: ['verdict'],
      },
    }),
    defineAgent({
      id: 'office.helper',
      model: 'demo/helper',
      instructions: 'Do what is asked. Send mail where it helps.',
      input: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] },
      output: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
      tools: [
        tool({
          id: 'mail_send',
          description: 'Sends a mail',
          input: mail,
          output: { type: 'object', properties: { receipt: { type: 'string' } }, required: ['receipt'] },
          sideEffect: true,
          approval: 'always',
          run: (/** @type {{ to: string, text: string }} */ inputs) => {
            sent.push(inputs)
            return { receipt: `r${sent.length}` }
          },
        }),
      ],
    }),
  ]
  return { capabilities, sent }
}

/** Planned by the server: a post whose writer is under a confidence contract. */
export const postEnvelope = {
  objective: 'Announce the spring tea collection',
  inputs: { topic: 'First flush Darjeeling' },
  outputContract: { schema: post },
}
export const carefulEnvelope = {
  ...postEnvelope,
  policies: {
    runtime: [{ id: 'careful', selector: { capabilityId: 'copy.writer' }, rao: { autoApproveAbove: 0.9 } }],
  },
}
export const approvedEnvelope = { ...postEnvelope, policies: { requiresHitlApproval: true } }
export const agentEnvelope = {
  objective: 'Let Ann know about the tea',
  inputs: { question: 'Please let Ann know that the tea has arrived' },
  outputContract: {
    schema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
  },
}
export const legalEnvelope = {
  objective: 'Have the campaign text reviewed',
  inputs: { topic: 'Tea that heals' },
  outputContract: {
    schema: { type: 'object', properties: { verdict: { enum: ['good', 'bad'] } }, required: ['verdict'] },
  },
}

/** A plan with research, a writer, a check and a route that is not taken. */
export const postDraft = {
  nodes: [
    { id: 'research', label: 'Research', capabilityId: 'research.topic' },
    { id: 'write', label: 'Write the post', capabilityId: 'copy.writer' },
    { id: 'check', label: 'Style guide', capabilityId: 'copy.check' },
    {
      id: 'route',
      label: 'Good enough?',
      inputs: { rating: { node: 'write', pointer: '/rating' } },
      routing: {
        routes: [{ condition: { '<': [{ var: 'rating' }, 3] }, to: 'legal', label: 'below 3' }],
        elseTo: 'check',
      },
    },
    { id: 'legal', label: 'Legal review', capabilityId: 'legal.review' },
  ],
  edges: [
    { from: 'research', to: 'write' },
    { from: 'write', to: 'route' },
    { from: 'route', to: 'legal' },
    { from: 'route', to: 'check' },
  ],
  output: { node: 'write' },
}

/**
 * A conversation with the agent: answered questions, an ask that waits for a person, and a message that waits for the run.
 * @param {import('../src/index.ts').App} app
 * @param {string} threadId
 * @param {number} [answered] questions before the one that asks
 */
export async function sayInThread(app, threadId, answered = 0) {
  const key = { tenant: 'default', threadId }
  const answer = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] }
  const inputs = { question: { envelope: '/inputs/message' } }
  const begin = {
    envelope: { outputContract: { schema: answer } },
    draft: { nodes: [{ id: 'answer', capabilityId: 'office.helper', inputs }], output: { node: 'answer' } },
  }
  for (let at = 0; at < answered; at++) {
    const { runId } = await app.threads.say(key, { ...begin, message: 'Has Ann heard about the spring tea?' })
    await app.result(runId)
    const [ask] = await app.store.asks({ runId, status: 'pending' })
    if (ask)
      await app.reply(runId, {
        requestId: ask.requestId,
        valueHash: ask.valueHash,
        decision: 'approve',
        note: 'go ahead',
        by: 'olga',
      })
    await app.result(runId)
  }
  const { runId } = await app.threads.say(key, {
    ...begin,
    message: 'Please let Ann know that the tea has arrived',
  })
  await app.result(runId)
  await app.threads.say(key, { message: 'And add that the oolong is next' })
}
