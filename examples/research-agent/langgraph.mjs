/** The same with LangGraph: its prebuilt agent, an interrupt inside the tool, and its SQLite checkpointer. */
import { tool } from '@langchain/core/tools'
import { Command, interrupt } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'

const Query = z.object({ query: z.string() })
const Mail = z.object({ to: z.string(), text: z.string() })
const Report = z.object({ summary: z.string(), informed: z.array(z.string()) })

export async function research({ baseURL, folder, search, send, decide }) {
  const find = async (input) => JSON.stringify(await search(input))
  const sendIfApproved = async (input) => {
    if (!interrupt({ toolName: 'send', input })) return 'A person rejected the call.'
    return JSON.stringify(await send(input))
  }
  const agent = createReactAgent({
    llm: new ChatOpenAI({ model: 'scripted', apiKey: 'none', configuration: { baseURL } }),
    prompt: 'Research the topic, inform ann, and sum it up.',
    tools: [
      tool(find, { name: 'search', description: 'Search the notes', schema: Query }),
      tool(sendIfApproved, { name: 'send', description: 'Send a message to a colleague', schema: Mail }),
    ],
    responseFormat: Report,
    checkpointer: SqliteSaver.fromConnString(`${folder}/langgraph.db`),
  })
  const config = { configurable: { thread_id: 'research-1' }, durability: 'sync' }
  const { next } = await agent.getState(config)
  let input = next.length > 0 ? null : { messages: [{ role: 'user', content: 'Research tea' }] }
  for (;;) {
    const result = await agent.invoke(input, config)
    if (!result.__interrupt__) return result.structuredResponse
    input = new Command({ resume: await decide(result.__interrupt__[0].value) })
  }
}
