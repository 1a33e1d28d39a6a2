/** An agent with a tool on Proviso and SQLite: each turn and each call in the journal before and after it is made. */
import { join } from 'node:path'
import { compile } from '../../scripts/compile.mjs'
import { answer, callCount, count, instructions, scriptedTurn } from './agent-script.mjs'

const number = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
const output = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

export async function openProvisoAgent(folder) {
  const { programs, dispose } = await compile({
    index: 'src/index.ts',
    sqlite: 'src/adapters/stores/sqlite/sqlite.ts',
  })
  const [{ createApp, defineAgent, tool }, { openSqliteStore }] = await Promise.all(
    Object.values(programs).map((path) => import(path)),
  )
  process.once('exit', dispose)
  const store = await openSqliteStore({ path: join(folder, 'proviso-agent.sqlite'), synchronous: 'FULL' })
  const agent = defineAgent({
    id: 'counter',
    model: 'scripted/model',
    instructions,
    input: { type: 'object' },
    output,
    tools: [tool({ id: 'count', description: 'Counts', input: number, output: number, run: count })],
    limits: { turns: callCount + 2 },
  })
  const app = await createApp({ store, capabilities: [agent], providers: [scripted()] })
  const envelope = { objective: 'Count', outputContract: { schema: output } }
  const draft = { nodes: [{ id: 'count', capabilityId: 'counter', inputs: {} }] }
  return {
    name: 'proviso',
    settings: 'SQLite (libsql), WAL, the log synced before every answer, as synchronous=FULL does',
    async run() {
      const { status, issues } = await app.run(envelope, { draft })
      if (status !== 'completed') throw new Error(`${status}: ${JSON.stringify(issues)}`)
    },
    async close() {
      await app.close()
      await store.close()
    },
  }
}

/** A provider that answers at once. */
function scripted() {
  const text = JSON.stringify(answer)
  const end = { kind: 'text', finish: 'stop', usage: { inputTokens: 10, outputTokens: 5 } }
  return {
    name: 'scripted',
    tools: true,
    free: true,
    async generate({ messages }) {
      const turn = messages.filter(({ role }) => role === 'assistant').length
      const call = scriptedTurn(turn)
      if (!call) return { ...end, text, parts: [{ type: 'text', text }] }
      const input = JSON.stringify(call.input)
      const part = { type: 'tool-call', toolCallId: `call_${turn}`, toolName: call.name, input }
      return { ...end, text: '', parts: [part] }
    },
  }
}
