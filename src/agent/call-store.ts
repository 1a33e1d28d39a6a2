/** Stores what an agent must remember of its calls: answers by idempotency key, accepted calls, and its signing key. */
import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Json } from '../base/json.ts'
import type { AcceptedCall, CallAnswer } from './call.ts'

/** One call as stored: accepted with a callback to come, or answered. */
export type CallRecord =
  | { readonly status: 'accepted'; readonly call: AcceptedCall }
  | { readonly status: 'answered'; readonly answer: CallAnswer }

/**
 * Implement it over your database to keep answers across restarts and to share them between replicas. Keys are idempotency
 * keys. A record may be dropped when its run can no longer repeat the call, such as after a week.
 */
export interface CallStore {
  read(key: string): Promise<CallRecord | undefined>
  write(key: string, record: CallRecord): Promise<void>
  remove(key: string): Promise<void>
  /** Lists calls whose callback was not delivered: a restarted agent runs those without an answer again, under their keys. */
  listAccepted(): Promise<readonly AcceptedCall[]>
  /** The signing key of the last registration. Without these two, every start requests a new key. */
  readSigningKey?(): Promise<string | undefined>
  writeSigningKey?(signingKey: string): Promise<void>
}

/** Keeps the newest answers in memory, 1,000 by default. A restart forgets them. */
export function createMemoryCallStore({ maxAnswers = 1_000 } = {}): CallStore {
  const accepted = new Map<string, AcceptedCall>()
  const answers = new Map<string, CallAnswer>()
  return {
    async read(key) {
      const answer = answers.get(key)
      if (answer !== undefined) return { status: 'answered', answer }
      const call = accepted.get(key)
      return call && { status: 'accepted', call }
    },
    async write(key, record) {
      if (record.status === 'accepted') return void accepted.set(key, record.call)
      accepted.delete(key)
      answers.delete(key)
      answers.set(key, record.answer)
      // A Map iterates in the order of insertion: the first key is the oldest.
      for (const oldest of answers.keys()) {
        if (answers.size <= maxAnswers) break
        answers.delete(oldest)
      }
    },
    async remove(key) {
      accepted.delete(key)
      answers.delete(key)
    },
    listAccepted: async () => [...accepted.values()],
  }
}

interface FileCallStoreOptions {
  /** How long answers are kept. Default 7 days. */
  readonly keepMs?: number
}

/**
 * Keeps calls and the signing key in a folder, one file each, so that a restarted agent answers as before. Files appear
 * whole: each is written under another name, flushed to disk and renamed.
 *
 * @example
 * await serveAgent({ ...options, calls: createFileCallStore('./agent-calls') })
 */
export function createFileCallStore(folder: string, options: FileCallStoreOptions = {}): CallStore {
  const { keepMs = 7 * 24 * 3_600_000 } = options
  const keyFile = join(folder, 'signing-key.json')
  // Hashed, because a key may hold characters that no file name can.
  const toFile = (key: string) => join(folder, `${createHash('sha256').update(key).digest('hex')}.json`)
  return {
    read: (key) => readJson<CallRecord>(toFile(key)),
    write: (key, record) => writeJson(folder, toFile(key), record),
    remove: (key) => rm(toFile(key), { force: true }),
    async listAccepted() {
      const accepted: AcceptedCall[] = []
      for (const file of await listFiles(folder)) {
        const record = await readJson<CallRecord>(file)
        if (record?.status === 'accepted') accepted.push(record.call)
        else if (record && (await stat(file)).mtimeMs < Date.now() - keepMs) await rm(file, { force: true })
      }
      return accepted
    },
    async readSigningKey() {
      return (await readJson<{ readonly signingKey: string }>(keyFile))?.signingKey
    },
    writeSigningKey: (signingKey) => writeJson(folder, keyFile, { signingKey }),
  }
}

/** Files that hold a call. */
async function listFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(ignoreMissing)
  return (names ?? []).filter((name) => /^[\da-f]{64}\.json$/.test(name)).map((name) => join(folder, name))
}

async function readJson<T>(file: string): Promise<T | undefined> {
  const text = await readFile(file, 'utf8').catch(ignoreMissing)
  return text === undefined ? undefined : JSON.parse(text)
}

let written = 0

async function writeJson(folder: string, file: string, value: unknown): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}.${written++}`
  // Readable by this user alone: inputs and the key are secrets.
  const handle = await open(draft, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify(value as Json))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
}

function ignoreMissing(cause: unknown): undefined {
  if ((cause as { readonly code?: unknown }).code !== 'ENOENT') throw cause
  return undefined
}
