/** Promises of `proviso run` at a terminal: the tree, and an end independent of what capabilities do. */
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { proviso, root } from '../support.ts'
import { file, runFile, scripted } from './run-support.ts'

const main = join(root, 'dist/cli/main.js')

const noPty = spawnSync('script', ['--version']).status === 0 ? undefined : '`script` is not installed'
if (noPty !== undefined)
  console.warn(`No terminal can be made here, the test of the tree is skipped: ${noPty}`)

/** Runs the command on a terminal of its own; gives everything that is written to it. */
function onTerminal(...args: string[]): Promise<{ code: number | null; text: string }> {
  const { NO_COLOR: _, FORCE_COLOR: __, PROVISO_STORE: ___, ...env } = process.env
  const command = [process.execPath, main, ...args].map((part) => `'${part}'`).join(' ')
  // Sized like any terminal: a pty of its own has no rows at first.
  const child = spawn('script', ['-qec', `stty rows 24 cols 80; ${command}`, '/dev/null'], {
    env: { ...env, TERM: 'xterm' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, text }))
  })
}

describe.skipIf(noPty !== undefined)('on a terminal', () => {
  it('a run is a tree that is drawn over itself, and stays as drawn at the end', async () => {
    const draft = {
      nodes: [
        { id: 'gather', capabilityId: 'gather' },
        { id: 'write', capabilityId: 'write', inputs: { text: { node: 'gather', pointer: '/text' } } },
      ],
      output: { node: 'write' },
    }
    const slow = [{ text: '{"text": "Tea"}', delayMs: 400 }]
    const capabilities = [scripted('gather', slow), scripted('write', slow)]
    const { code, text } = await onTerminal('run', file('tree.json', { ...runFile(), draft, capabilities }))
    expect(code).toBe(0)
    // Lines are not wrapped while they are drawn, and the next picture begins where the last one did.
    expect(text).toContain('\u001b[?7l')
    expect(text).toContain('\u001b[2A\r\u001b[J')
    const pictures = text
      .split('\u001b[?7l')
      .slice(1)
      .map((part) => plain(part.split('\u001b[?7h')[0] ?? ''))
    expect(pictures.some((picture) => /▸ gather.*\n.*· write/.test(picture))).toBe(true)
    expect(pictures.some((picture) => /✓ gather.*\n.*▸ write/.test(picture))).toBe(true)
    expect(pictures.at(-1)).toMatch(/✓ gather.*\n.*✓ write/)
    // The answer is below the tree.
    expect(plain(text.slice(text.lastIndexOf('\u001b[?7h')))).toContain('"text": "Tea"')
  })

  it('with --json nothing is drawn: every line is an event', async () => {
    const { text } = await onTerminal('run', file('plain.json', runFile()), '--json')
    const events = text
      .trim()
      .split(/\r?\n/)
      .map((line) => JSON.parse(line).type)
    expect(events.at(0)).toBe('start')
    expect(events.at(-1)).toBe('complete')
  })
})

describe('a capability that does not heed its signal', () => {
  it('does not keep the command: the run fails by its time, and the process leaves soon after', async () => {
    const deaf = `import { defineCapability } from ${JSON.stringify(join(root, 'dist/index.js'))}
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
export const deaf = defineCapability({
  capabilityId: 'deaf', inputContract: { type: 'object' }, outputContract: text,
  run: () => new Promise((resolve) => setTimeout(resolve, 600_000)),
})`
    const draft = { nodes: [{ id: 'write', capabilityId: 'deaf', timeoutMs: 50 }] }
    const path = file('deaf.json', { ...runFile(), draft, capabilities: [] })
    const began = performance.now()
    const done = await proviso(['run', path, '--use', file('deaf.mjs', deaf)])
    expect(done).toMatchObject({ code: 3, stdout: '' })
    expect(done.stderr).toContain('attempt/timed_out')
    expect(performance.now() - began).toBeLessThan(50_000)
  })
})

/** Without the escape sequences of a terminal. */
function plain(text: string): string {
  return text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r', '')
}
