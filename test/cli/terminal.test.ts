/** Promises of `proviso run` at a terminal: the tree, and an end independent of what capabilities do. */
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { proviso, root } from '../support.ts'
import { playTerminal } from './play-terminal.ts'
import { approved, file, pathInFolder, runFile, scripted } from './run-support.ts'

const main = join(root, 'dist/cli/main.js')

const noPty = spawnSync('script', ['--version']).status === 0 ? undefined : '`script` is not installed'
if (noPty !== undefined)
  console.warn(`No terminal can be made here, the test of the tree is skipped: ${noPty}`)

/** Runs the command on a terminal of its own; gives everything that is written to it. */
function onTerminal(...args: string[]): Promise<{ code: number | null; text: string }> {
  return typeOnTerminal(args)
}

interface Typing {
  readonly env?: Readonly<Record<string, string>>
  /** Each line is typed when its text has appeared, in this order. */
  readonly answers?: readonly (readonly [string, string])[]
  readonly size?: string
}

function typeOnTerminal(
  args: readonly string[],
  { env: more = {}, answers = [], size = 'rows 24 cols 80' }: Typing = {},
): Promise<{ code: number | null; text: string }> {
  const { NO_COLOR: _, FORCE_COLOR: __, PROVISO_STORE: ___, ...env } = process.env
  const command = [process.execPath, main, ...args].map((part) => `'${part}'`).join(' ')
  // Sized like any terminal: a pty of its own has no rows at first.
  const child = spawn('script', ['-qec', `stty ${size}; ${command}`, '/dev/null'], {
    env: { ...env, TERM: 'xterm', LC_ALL: 'C.UTF-8', USER: 'ann', ...more },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const open = [...answers]
  let text = ''
  let seen = 0
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const [next] = open
    if (next === undefined || !plain(text.slice(seen)).includes(next[0])) return
    seen = text.length
    open.shift()
    child.stdin.write(`${next[1]}\r`)
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
    // Lines are not wrapped while they are drawn, each is rewritten in its place, and nothing clears the screen.
    expect(text).toContain('\u001b[?7l')
    expect(text).toContain('\u001b[2A')
    expect(text).not.toContain('\u001b[J')
    // The last picture alone is on the screen, with the answer below it.
    const { rows } = playTerminal(text)
    expect(rows.slice(0, 3)).toEqual([
      expect.stringMatching(/^✓ gather {2}/),
      expect.stringMatching(/^└─ ✓ write {2}/),
      expect.stringMatching(/^completed: run /),
    ])
    expect(rows.join('\n')).toContain('"text": "Tea"')
    expect(plain(text)).toMatch(/▸ gather/)
    expect(plain(text)).toMatch(/· write/)
  })

  it('cuts long names with …, so that the state stays in view, and keeps the tree without colours', async () => {
    const label = 'Gather all that is known about tea in every language'
    const path = file('long.json', runFile({ node: { label } }))
    const { text } = await typeOnTerminal(['run', path, '--no-color'], { size: 'rows 24 cols 40' })
    const drawn = text.slice(0, text.lastIndexOf('\u001b[?7h'))
    expect(drawn).not.toMatch(/\u001b\[\d+m/)
    const [line = ''] = playTerminal(text).rows
    expect(line).toMatch(/^✓ Gather all… \(write\) {2}[\d.]+ m?s$/)
  })

  it('prints lines on a dumb terminal, and plain signs where the locale is not UTF-8', async () => {
    const { text } = await typeOnTerminal(['run', file('dumb.json', runFile())], {
      env: { TERM: 'dumb', LC_ALL: 'C' },
    })
    expect(text).not.toContain('\u001b[?7l')
    expect(plain(text)).toMatch(/^> write running\nok write completed/m)
    expect(plain(text)).not.toMatch(/[✓▸]/)
  })

  it('asks are answered at the prompt: an invalid edit is refused, a valid one completes the run', async () => {
    const envelope = { ...approved }
    const { code, text } = await typeOnTerminal(['run', file('ask.json', runFile({ envelope }))], {
      answers: [
        ['leave it open: ', 'e'],
        ['value as JSON: ', '\u0015{"text": 3}'],
        ['leave it open: ', '2'],
        ['value as JSON: ', '\u0015{"text": "Green tea"}'],
      ],
    })
    expect(code, text).toBe(0)
    const shown = plain(text)
    expect(shown).toContain('Approve the answer?')
    expect(shown).toContain('/text')
    expect(shown).toContain('edit by ann is recorded')
    expect(shown).toMatch(/"text": "Green tea"\n}\s*$/)
  })

  it('an ask that is left open ends the command with 6 and says how to answer later', async () => {
    const path = file('later.json', runFile({ envelope: approved }))
    const store = `sqlite:${pathInFolder('later.db')}`
    const { code, text } = await typeOnTerminal(['run', path, '--store', store], {
      answers: [['leave it open: ', '']],
    })
    expect(code).toBe(6)
    expect(plain(text)).toContain('reply')
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

describe('without a terminal', () => {
  const failing = () => {
    const draft = {
      nodes: [
        { id: 'slow', capabilityId: 'slow' },
        { id: 'bad', capabilityId: 'bad', retry: { max: 1, backoffMs: 20 } },
        { id: 'join', capabilityId: 'join', inputs: { a: { node: 'slow' }, b: { node: 'bad' } } },
      ],
      output: { node: 'join' },
    }
    const slow = scripted('slow', [{ text: '{"text": "A"}', delayMs: 30_000 }])
    const capabilities = [slow, scripted('bad', [{ text: 'no', delayMs: 100 }]), scripted('join', [])]
    return { ...runFile(), draft, capabilities }
  }

  it('says why an attempt is repeated, names the node that failed, and marks cancelled ones apart', async () => {
    const { code, stderr } = await proviso(['run', file('failing.json', failing())])
    expect(code).toBe(3)
    expect(stderr).toMatch(/↻ bad waits {2}again at \S+ UTC: invalid, no value was found in the text/)
    expect(stderr).toMatch(/✗ bad failed {2}attempt 2/)
    expect(stderr).toMatch(/⊘ slow cancelled/)
    expect(stderr).toMatch(/^error node bad failed: no value was found in the text$/m)
  })

  it('--quiet prints the answer alone, or the error; --verbose the trace', async () => {
    const quiet = await proviso(['run', file('quiet.json', runFile()), '--quiet'])
    expect(quiet).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(quiet.stdout)).toEqual({ text: 'Tea' })
    const broken = await proviso(['run', file('quiet-broken.json', failing()), '-q'])
    expect(broken.stderr).toMatch(/^error node bad failed/)
    const both = await proviso(['run', file('quiet.json', runFile()), '-q', '-v'])
    expect(both).toMatchObject({ code: 2, stdout: '' })
    const messy = runFile({ script: [{ text: 'Sure: {"text": "Tea",}' }] })
    const verbose = await proviso(['run', file('verbose.json', messy), '-v'])
    expect(verbose.stderr).toContain('write output.coercion')
  })

  it('inserted nodes of a pipeline are not shown', async () => {
    const path = file('hidden.yaml', hiddenPipeline)
    const { stderr } = await proviso(['run', path, '--input', 'tea'])
    expect(stderr).toContain('second')
    expect(stderr).not.toContain('.input')
  })
})

const hiddenPipeline = `name: hidden
steps:
  - name: first
    uses: wrap_dict
    input: "{{ input }}"
  - name: second
    uses: ensure_object
    input: "About {{ steps.first.output.value }}"
`

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
