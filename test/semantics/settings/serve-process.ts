/** `proviso serve` as a process of its own, in a folder of its own, without keys or settings of the machine. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll } from 'vitest'
import { envNames } from '../../../src/env.ts'
import { serverKeys, serverTable } from '../../../src/pipeline/index.ts'
import { listening } from '../../processes/listening.ts'
import { frames, type SseFrame } from '../../server/support.ts'
import { proviso, requireBuild, root } from '../../support.ts'

export const flexToken = 'a-token-for-one-user-only'

export interface ServeOptions {
  readonly args?: readonly string[]
  readonly env?: { readonly [name: string]: string }
  /** The text of `proviso.toml` in the folder where it starts. */
  readonly toml?: string
  /** The folder of an earlier server, to continue with its store. */
  readonly folder?: string
}

export interface Served {
  readonly address: string
  /** Holds `proviso.toml` and `proviso.db`. */
  readonly folder: string
  call(path: string, body?: unknown, method?: string): Promise<Response>
  /** Starts a run and resolves with its frames when it waits or is over. */
  run(body: unknown): Promise<readonly SseFrame[]>
  stderr(): string
  /** Resolves when it has said this on standard error. */
  says(words: string): Promise<void>
  /** Ends the process in order. */
  stop(): Promise<number | null>
  /** Ends it with SIGKILL. */
  kill(): Promise<number | null>
}

const started = new Set<ChildProcess>()
const folders = new Set<string>()

const bare = Object.fromEntries(
  [...Object.values(envNames).flat(), ...serverKeys.flatMap((key) => [...serverTable[key].env])].map(
    (name) => [name, ''],
  ),
)

export function useServeProcesses(): void {
  beforeAll(requireBuild)
  afterEach(() => {
    for (const child of started) child.kill('SIGKILL')
    started.clear()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    folders.clear()
  })
}

function prepareFolder({
  toml,
  folder = mkdtempSync(join(tmpdir(), 'proviso-serve-')),
}: ServeOptions): string {
  folders.add(folder)
  if (toml !== undefined) writeFileSync(join(folder, 'proviso.toml'), toml)
  return folder
}

const environment = (env: ServeOptions['env']) => ({
  ...process.env,
  ...bare,
  NO_COLOR: '1',
  PROVISO_STORE: '',
  PROVISO_LOG: 'silent',
  FLEX_TOKEN: flexToken,
  ...env,
})

/** Resolves when it listens. */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const folder = prepareFolder(options)
  const args = [join(root, 'dist/cli/main.js'), 'serve', '--port', '0', ...(options.args ?? [])]
  const child = spawn(process.execPath, args, { cwd: folder, env: environment(options.env) })
  started.add(child)
  const { address, ended, says, stderr } = await listening(child)
  const call: Served['call'] = (path, body, method = body === undefined ? 'GET' : 'POST') =>
    fetch(`${address}${path}`, {
      method,
      headers: { authorization: `Bearer ${flexToken}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  return {
    address,
    folder,
    call,
    run: async (body) => frames(await call('/api/v1/flex/run.stream', body)),
    stderr,
    says,
    stop() {
      child.kill('SIGTERM')
      return ended
    },
    kill() {
      child.kill('SIGKILL')
      return ended
    },
  }
}

/** A start that is expected to be refused. */
export function refusedStart(options: ServeOptions) {
  return proviso(['serve', '--port', '0', ...(options.args ?? [])], {
    cwd: prepareFolder(options),
    env: environment(options.env),
  })
}
