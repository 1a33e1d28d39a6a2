/** `proviso parse --watch` as a process: it reads again when a file has changed, says so once, and ends with Ctrl-C. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { proviso, requireBuild, root } from '../support.ts'

const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }

let folder = ''
let children: ChildProcessWithoutNullStreams[] = []

const write = (name: string, content: string) => writeFileSync(join(folder, name), content)

/** As editors save: a new file is written and renamed onto the old one. */
function replace(name: string, content: string): void {
  write(`${name}.tmp`, content)
  renameSync(join(folder, `${name}.tmp`), join(folder, name))
}

interface Watching {
  readonly child: ChildProcessWithoutNullStreams
  /** The next line that satisfies the test, from where the last one was found. */
  readonly line: (from: 'stdout' | 'stderr', isWanted?: (line: string) => boolean) => Promise<string>
  /** The next reading of `--json`. */
  readonly reading: () => Promise<{
    ok: boolean
    value?: unknown
    diagnostics: { file: string; code: string }[]
  }>
}

function watch(...args: string[]): Watching {
  const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'parse', '--watch', ...args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
  })
  children.push(child)
  const text = { stdout: '', stderr: '' }
  for (const from of ['stdout', 'stderr'] as const)
    child[from].setEncoding('utf8').on('data', (chunk: string) => {
      text[from] += chunk
    })
  const line: Watching['line'] = async (from, isWanted = () => true) => {
    for (;;) {
      const end = text[from].indexOf('\n')
      if (end < 0) {
        await once(child[from], 'data')
        continue
      }
      const next = text[from].slice(0, end)
      text[from] = text[from].slice(end + 1)
      if (isWanted(next)) return next
    }
  }
  return { child, line, reading: async () => JSON.parse(await line('stdout')) }
}

beforeAll(requireBuild)
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-watch-'))
  write('a.txt', 'Here: {"n": "1"}')
  write('s.json', JSON.stringify(schema))
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children = []
  rmSync(folder, { recursive: true, force: true })
})

describe('one JSON line per reading', () => {
  it('when the text changes, in place or replaced as editors do', async () => {
    const { reading } = watch('--json', '-s', 's.json', 'a.txt')
    expect(await reading()).toMatchObject({ ok: true, value: { n: 1 } })
    write('a.txt', '{"n": 2}')
    expect(await reading()).toMatchObject({ value: { n: 2 }, diagnostics: [] })
    replace('a.txt', '{"n": 3}')
    expect(await reading()).toMatchObject({ value: { n: 3 } })
    // The new file is watched like the old one.
    replace('a.txt', '{"n": 4}')
    expect(await reading()).toMatchObject({ value: { n: 4 } })
  })

  it('when the schema changes; one that cannot be used is reported, and watching continues', async () => {
    const { reading } = watch('--json', '-s', 's.json', 'a.txt')
    await reading()
    replace('s.json', JSON.stringify({ ...schema, required: ['n', 'm'] }))
    expect(await reading()).toMatchObject({
      ok: false,
      diagnostics: [{ file: 'a.txt', code: 'schema/required' }, {}, {}],
    })
    replace('s.json', '{"type": "nonsense"}')
    expect(await reading()).toMatchObject({
      ok: false,
      diagnostics: [{ file: 's.json', code: 'schema/invalid' }],
    })
    write('s.json', '{"type": ')
    expect(await reading()).toMatchObject({
      ok: false,
      diagnostics: [{ file: 's.json', code: 'input/unreadable' }],
    })
    write('s.json', 'true')
    expect(await reading()).toMatchObject({ ok: true, value: { n: '1' } })
  })

  it('when both change at once: one reading', async () => {
    const { child, reading } = watch('--json', '-s', 's.json', 'a.txt')
    await reading()
    // Stopped, the process sees both changes at the same moment.
    child.kill('SIGSTOP')
    replace('a.txt', '{"n": 2, "m": 5}')
    replace('s.json', JSON.stringify({ ...schema, required: ['n', 'm'] }))
    child.kill('SIGCONT')
    expect(await reading()).toMatchObject({ ok: true, value: { n: 2, m: 5 } })
    write('a.txt', '{"n": 3, "m": 5}')
    expect(await reading()).toMatchObject({ value: { n: 3, m: 5 } })
  })

  it('not when a file is written again with the same content', async () => {
    const { reading } = watch('--json', '-s', 's.json', 'a.txt')
    await reading()
    write('a.txt', readFileSync(join(folder, 'a.txt'), 'utf8'))
    write('other.txt', 'not watched')
    replace('a.txt', '{"n": 2}')
    expect(await reading()).toMatchObject({ value: { n: 2 } })
  })

  it('not when a file is missing for a moment', async () => {
    const { child, reading } = watch('--json', '-s', 's.json', 'a.txt')
    await reading()
    child.kill('SIGSTOP')
    renameSync(join(folder, 'a.txt'), join(folder, 'a.txt~'))
    child.kill('SIGCONT')
    write('a.txt', '{"n": 2}')
    expect(await reading()).toMatchObject({ ok: true, value: { n: 2 } })
  })

  it('when a file is gone, and when it comes back', async () => {
    const { reading } = watch('--json', '-s', 's.json', 'a.txt')
    await reading()
    unlinkSync(join(folder, 'a.txt'))
    expect(await reading()).toMatchObject({
      ok: false,
      diagnostics: [{ file: 'a.txt', code: 'input/unreadable' }],
    })
    write('a.txt', '{"n": 2}')
    expect(await reading()).toMatchObject({ ok: true, value: { n: 2 } })
  })

  it('when the file does not exist yet', async () => {
    const { reading } = watch('--json', 'later.txt')
    expect(await reading()).toMatchObject({ ok: false, diagnostics: [{ file: 'later.txt' }] })
    replace('later.txt', '[1]')
    expect(await reading()).toMatchObject({ ok: true, value: [1] })
  })

  it('when the file behind a symbolic link changes', async () => {
    mkdirSync(join(folder, 'real'))
    write('real/text', '[1]')
    symlinkSync(join('real', 'text'), join(folder, 'link.txt'))
    const { reading } = watch('--json', 'link.txt')
    await reading()
    write('real/text', '[2]')
    expect(await reading()).toMatchObject({ value: [2] })
  })
})

describe('for people', () => {
  it('prints value and repairs again, with a line before and after each reading', async () => {
    const { line } = watch('-s', 's.json', 'a.txt')
    expect(await line('stderr')).toMatch(/^--- reading 1, \d\d:\d\d:\d\d$/)
    await line('stderr', (text) => text.includes('str->int'))
    expect(await line('stderr', (text) => text.startsWith('---'))).toBe(
      '--- watching a.txt, s.json; end with Ctrl-C',
    )
    expect(await line('stdout', (text) => text.includes('"n"'))).toBe('  "n": 1')
    replace('a.txt', '{"n": 2,}')
    expect(await line('stderr')).toMatch(/^--- reading 2, /)
    await line('stderr', (text) => text.includes('trailing-comma'))
    expect(await line('stdout', (text) => text.includes('"n"'))).toBe('  "n": 2')
  })

  it('prints problems between the same lines, for the problem matcher of an editor', async () => {
    const { line } = watch('--problems', '-s', 's.json', 'a.txt')
    await line('stderr', (text) => text.startsWith('--- reading 1'))
    expect(await line('stderr')).toMatch(/^a\.txt:1:1: info repair\/surroundings: /)
    expect(await line('stderr')).toMatch(/^a\.txt:1:13: warning repair\/str->int: /)
    expect(await line('stderr')).toMatch(/^a\.txt:1:16: info|^--- watching/)
  })
})

describe('the end', () => {
  it('is Ctrl-C, with exit code 130', async () => {
    const { child, reading } = watch('--json', 'a.txt')
    await reading()
    const closed = once(child, 'close')
    child.kill('SIGINT')
    expect((await closed)[0]).toBe(130)
  })

  it('is 2 when the folder is gone', async () => {
    mkdirSync(join(folder, 'inner'))
    write('inner/a.txt', '[1]')
    const { child, reading, line } = watch('--json', join('inner', 'a.txt'))
    await reading()
    const closed = once(child, 'close')
    rmSync(join(folder, 'inner'), { recursive: true })
    expect(await line('stderr', (text) => text.includes('Cannot watch'))).toContain('no such folder')
    expect((await closed)[0]).toBe(2)
  })

  it.each([
    ['stdin', ['--watch'], 'Cannot watch stdin'],
    ['stdin by its name', ['--watch', '-'], 'Cannot watch stdin'],
    ['a schema from stdin', ['--watch', '-s', '-', 'a.txt'], 'Cannot watch stdin'],
    ['a stream', ['--watch', '--stream', 'a.txt'], 'Cannot combine --watch and --stream'],
    ['a folder that does not exist', ['--watch', 'nowhere/a.txt'], 'no such folder'],
  ])('is 2 at once for %s', async (_, args, message) => {
    const done = await proviso(['parse', ...args], { cwd: folder })
    expect(done).toMatchObject({ code: 2, stdout: '' })
    expect(done.stderr).toContain(message)
  })
})

it.runIf(process.platform === 'linux')('computes nothing while nothing changes', async () => {
  const { child, reading } = watch('--json', 'a.txt')
  await reading()
  replace('a.txt', '{"n": 2}')
  await reading()
  const before = cpuTicks(child)
  // The time that three other commands take is enough for a loop to be noticed.
  for (let i = 0; i < 3; i++) await proviso(['parse'], { stdin: '[1]' })
  expect(cpuTicks(child) - before).toBeLessThanOrEqual(5)
})

/** Hundredths of a second that a process has computed. */
function cpuTicks({ pid }: ChildProcessWithoutNullStreams): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return Number(fields[11]) + Number(fields[12])
}
