/** What the tests of MCP share: the scripted server, and a file where it notes what it did. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { App, Json } from '../../src/index.ts'
import type { Decision } from '../../src/types.ts'
import { afterEachFile } from '../cleanup.ts'

const folders: string[] = []
afterEachFile(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'proviso-mcp-'))
  folders.push(made)
  return made
}

export const scripted = fileURLToPath(new URL('./scripted-server.mjs', import.meta.url))

/** A package of the registry, as a command. */
export const reference = (name: string): string =>
  fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url))

/** The scripted server as a process, and what it did. */
export function scriptedServer(protocol: 'legacy' | 'modern' = 'modern') {
  const file = join(folder(), 'effects')
  writeFileSync(file, '')
  return {
    server: { command: process.execPath, args: [scripted], env: { EFFECTS: file }, protocol } as const,
    effects: () => readFileSync(file, 'utf8').split('\n').filter(Boolean),
  }
}

/** A draft with one node that calls a tool, and an envelope for whatever it returns. */
export function callOnce(capabilityId: string, inputs: object, more: object = {}) {
  const bound = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, { value }]))
  return { nodes: [{ id: 'call', capabilityId, inputs: bound, ...more }] }
}

export const anything = { objective: 'Use a tool', outputContract: { schema: { type: 'object' } } } as const

/** Side effects are allowed without an approval. */
export const mayAct = {
  ...anything,
  policies: { planner: { directives: { sideEffects: 'allow' } } },
} as const

export const pending = (app: App, runId: string) => app.store.asks({ runId, status: 'pending' })

/** Resolves as soon as the condition holds; the test's own time limit ends it. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** Answers the only open ask of a run. */
export async function answer(app: App, runId: string, decision: Decision, value?: Json): Promise<void> {
  const [ask, other] = await pending(app, runId)
  if (!ask || other) throw new Error('there is not exactly one ask')
  const { requestId, valueHash } = ask
  await app.reply(runId, { requestId, valueHash, decision, by: 'ann', ...(value !== undefined && { value }) })
}
