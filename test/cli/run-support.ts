/** What tests of `proviso run` and its neighbours share: run files of a few words, in a folder of their own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireBuild } from '../support.ts'

let folder: string | undefined

/** Made when it is first needed and removed with the process: test files of one worker share this module. */
function runFolder(): string {
  if (folder !== undefined) return folder
  requireBuild()
  const made = mkdtempSync(join(tmpdir(), 'proviso-run-'))
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
  folder = made
  return made
}

/** Writes a file for one test and returns its path. */
export function file(name: string, content: unknown): string {
  const path = join(runFolder(), name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  return path
}

/** A path in the folder of the test. */
export const pathInFolder = (name: string) => join(runFolder(), name)

export const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const

export const scripted = (capabilityId: string, script: readonly object[]) => ({
  capabilityId,
  kind: 'scripted',
  inputContract: { type: 'object' },
  outputContract: text,
  settings: { script },
})

export interface Parts {
  readonly envelope?: object
  readonly node?: object
  readonly draft?: object
  readonly script?: readonly object[]
}

/** One node "write" that says something about tea. */
export function runFile({ envelope, node, draft, script = [{ text: '{"text": "Tea"}' }] }: Parts = {}) {
  return {
    envelope: { objective: 'One line about tea', outputContract: { schema: text }, ...envelope },
    draft: { nodes: [{ id: 'write', capabilityId: 'write', ...node }], ...draft },
    capabilities: [scripted('write', script)],
  }
}

export const approved = { policies: { planner: { directives: { askBeforeFinish: true } } } }
export const paused = {
  policies: {
    runtime: [{ id: 'wait', trigger: { kind: 'onStart' }, action: { type: 'pause', reason: 'Not yet' } }],
  },
}
