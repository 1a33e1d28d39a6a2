/**
 * The process that is killed: starts runs of one thread, one after another, and waits for all of them. It kills itself with
 * SIGKILL before or after a write to the queue or of a run.
 */
import { appendFileSync, writeSync } from 'node:fs'
import { openStore } from '../../src/adapters/stores/open-store.ts'
import { createApp, defineCapability } from '../../src/index.ts'

export interface Task {
  readonly store: string
  /** File of the capability's calls. */
  readonly calls: string
  readonly messages: readonly string[]
  /** Runs that an earlier process has accepted: not started again. */
  readonly accepted: readonly string[]
  /** The write to die at, from 0; even numbers before it, odd ones after it. */
  readonly killAt?: number
}

const { store: address, calls, messages, accepted, killAt } = JSON.parse(process.argv[2] ?? '{}') as Task
const say = (line: string) => writeSync(1, `${line}\n`)

let points = 0
const pass = () => {
  if (points++ === killAt) process.kill(process.pid, 'SIGKILL')
}
async function within<T>(write: () => Promise<T>): Promise<T> {
  pass()
  const result = await write()
  pass()
  return result
}

const store = await openStore(address)
const { documents } = store.records
const watched = {
  ...store,
  create: (...given: Parameters<typeof store.create>) => within(() => store.create(...given)),
  append: (...given: Parameters<typeof store.append>) => within(() => store.append(...given)),
  records: {
    ...store.records,
    documents: {
      ...documents,
      add: (...given: Parameters<typeof documents.add>) => within(() => documents.add(...given)),
      remove: (...given: Parameters<typeof documents.remove>) => within(() => documents.remove(...given)),
    },
  },
}

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const write = defineCapability({
  id: 'write',
  input: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  output: text,
  idempotent: true,
  run: ({ message }: { readonly message: string }) => {
    appendFileSync(calls, `${message}\n`)
    return { text: message }
  },
} as never)

const app = await createApp({ store: watched, capabilities: [write], pollMs: 50, leaseMs: 1_000, env: {} })
const draft = {
  nodes: [{ id: 'write', capabilityId: 'write', inputs: { message: { envelope: '/inputs/message' } } }],
}
for (const message of messages) {
  if (accepted.includes(message)) continue
  const envelope = { objective: 'Write', inputs: { message }, outputContract: { schema: text } }
  await app.start(envelope as never, { draft, threadId: 'one', runId: message } as never)
  say(`accepted ${message}`)
}
for (const message of messages) say(`ended ${message} ${(await app.result(message)).status}`)
say(`points ${points}`)
const key = { tenant: 'default', threadId: 'one' }
// A document whose run has started is removed.
await app.threads.startNext(key)
say(`queued ${(await app.store.records.documents.list({ kind: 'message' })).length}`)
await app.close()
await store.close()
