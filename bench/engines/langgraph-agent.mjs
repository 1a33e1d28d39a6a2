/** The same agent with LangGraph's prebuilt agent and its SqliteSaver: a checkpoint after every super-step. */
import { join } from 'node:path'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { z } from 'zod'
import { answer, callCount, count, instructions, scriptedTurn } from './agent-script.mjs'

export async function openLangGraphAgent(folder) {
  const saver = SqliteSaver.fromConnString(join(folder, 'langgraph-agent.sqlite'))
  const schema = z.object({ n: z.number() })
  const agent = createReactAgent({
    llm: new ScriptedModel({}),
    prompt: instructions,
    tools: [
      tool(async (input) => JSON.stringify(count(input)), { name: 'count', description: 'Counts', schema }),
    ],
    checkpointer: saver,
  })
  let threads = 0
  const run = async () => {
    threads += 1
    const config = {
      configurable: { thread_id: `t${threads}` },
      durability: 'sync',
      recursionLimit: 4 * callCount,
    }
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Count' }] }, config)
    if (messages.length !== 2 * callCount + 2) throw new Error(`${messages.length} messages`)
  }
  // Its driver's own default for WAL is NORMAL; the first run makes the tables and sets WAL.
  await run()
  saver.db.pragma('synchronous = FULL')
  return {
    name: 'LangGraph 1.4.18',
    settings: `createReactAgent with SqliteSaver 1.0.4 (better-sqlite3), ${saver.db.pragma('journal_mode', { simple: true })}, synchronous=${saver.db.pragma('synchronous', { simple: true })} (2 is FULL), durability sync`,
    run,
    close: async () => saver.db.close(),
  }
}

/** A chat model that answers at once. */
class ScriptedModel extends BaseChatModel {
  _llmType() {
    return 'scripted'
  }

  bindTools() {
    return this
  }

  async _generate(messages) {
    const turn = messages.filter((message) => message.getType() === 'ai').length
    const call = scriptedTurn(turn)
    const message = call
      ? new AIMessage({
          content: '',
          tool_calls: [{ id: `call_${turn}`, name: call.name, args: call.input, type: 'tool_call' }],
        })
      : new AIMessage(JSON.stringify(answer))
    return { generations: [{ text: '', message }] }
  }
}
