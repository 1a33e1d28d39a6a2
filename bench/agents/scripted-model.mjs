/** A model that speaks OpenAI's chat format: searches, wants to send, and reports; by the turns in the conversation. */
import { createServer } from 'node:http'

const call = (id, name, input) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(input) },
})

export const report = { summary: 'Tea grows in hills', informed: ['ann'] }

const turns = [
  { content: null, tool_calls: [call('call_1', 'search', { query: 'tea' })] },
  { content: null, tool_calls: [call('call_2', 'send', { to: 'ann', text: 'Tea grows in hills' })] },
  { content: JSON.stringify(report) },
]

export async function serveModel() {
  const seen = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { messages } = JSON.parse(text)
    const turn = messages.filter(({ role }) => role === 'assistant').length
    seen.push(turn)
    const message = { role: 'assistant', ...(turns[turn] ?? turns[2]) }
    const finish_reason = message.tool_calls ? 'tool_calls' : 'stop'
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
    const body = {
      id: `chatcmpl-${seen.length}`,
      object: 'chat.completion',
      created: 1,
      model: 'scripted',
      usage,
    }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ ...body, choices: [{ index: 0, message, finish_reason }] }))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    seen,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
