/** The same with the AI SDK: the program stores the conversation after every step, and sends it again. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, Output, stepCountIs, tool } from 'ai'
import { z } from 'zod'

const Query = z.object({ query: z.string() })
const Mail = z.object({ to: z.string(), text: z.string() })
const Report = z.object({ summary: z.string(), informed: z.array(z.string()) })

export async function research({ baseURL, folder, search, send, decide }) {
  const tools = {
    search: tool({ description: 'Search the notes', inputSchema: Query, execute: search }),
    send: tool({
      description: 'Send a message to a colleague',
      inputSchema: Mail,
      needsApproval: true,
      execute: send,
    }),
  }
  const model = createOpenAICompatible({ name: 'scripted', baseURL, supportsStructuredOutputs: true })
  const file = `${folder}/ai-sdk.json`
  const save = (all) => writeFileSync(file, JSON.stringify(all))
  const first = [{ role: 'user', content: 'Research tea' }]
  let messages = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : first
  for (;;) {
    const { role, content } = messages.at(-1)
    const parts = role === 'assistant' ? content : []
    const responses = []
    for (const { approvalId, toolCallId } of parts.filter(({ type }) => type === 'tool-approval-request')) {
      const toolCall = parts.find((part) => part.type === 'tool-call' && part.toolCallId === toolCallId)
      responses.push({ type: 'tool-approval-response', approvalId, approved: await decide(toolCall) })
    }
    if (responses.length > 0) messages = [...messages, { role: 'tool', content: responses }]
    save(messages)
    const result = await generateText({
      model: model('scripted'),
      system: 'Research the topic, inform ann, and sum it up.',
      tools,
      messages,
      stopWhen: stepCountIs(8),
      output: Output.object({ schema: Report }),
      onStepFinish: ({ response }) => save([...messages, ...response.messages]),
    })
    messages = [...messages, ...result.response.messages]
    if (!result.content.some(({ type }) => type === 'tool-approval-request')) return result.output
  }
}
