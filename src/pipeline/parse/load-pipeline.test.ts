import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadPipeline } from './load-pipeline.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-load-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const write = (name: string, text: string) => {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

const issues = async (path: string) => {
  const loaded = await loadPipeline(path)
  return loaded.ok ? [] : loaded.issues
}

const steps = 'steps: [{ name: s, uses: wrap_dict }]\n'

describe('prompts from files', () => {
  it('fills in their variables', async () => {
    write('p/a.md', 'Speak {{ language }}, {{n}} words.')
    const path = write(
      'a.yaml',
      `agents: { w: { system_prompt: { from_file: p/a.md, variables: { language: French, n: 5 } } } }\n${steps}`,
    )
    const loaded = await loadPipeline(path)
    expect(loaded.ok && loaded.pipeline.agents.get('w')?.systemPrompt).toBe('Speak French, 5 words.')
  })

  it('names a variable that is not set, and a file that is not there', async () => {
    write('a.md', 'Speak {{ language }}.')
    expect(
      await issues(write('a.yaml', `agents: { w: { system_prompt: { from_file: a.md } } }\n${steps}`)),
    ).toMatchObject([{ code: 'import/variable', line: 1 }])
    expect(
      await issues(write('b.yaml', `agents: { w: { system_prompt: { from_file: no.md } } }\n${steps}`)),
    ).toMatchObject([{ code: 'import/prompt', line: 1 }])
  })
})

describe('imports', () => {
  it('loads pipelines with theirs', async () => {
    write('parts/inner.yaml', steps)
    write('parts/one.yaml', `imports: { in: inner.yaml }\n${steps}`)
    const loaded = await loadPipeline(write('main.yaml', `imports: { one: parts/one.yaml }\n${steps}`))
    expect(
      loaded.ok && loaded.pipeline.imports.get('one')?.pipeline?.imports.get('in')?.pipeline?.steps,
    ).toHaveLength(1)
  })

  it('finds circles, and shows issues of the imported file with its own lines', async () => {
    write('b.yaml', `imports: { a: a.yaml }\n${steps}`)
    const circle = await issues(write('a.yaml', `imports: { b: b.yaml }\n${steps}`))
    expect(circle.map(({ code }) => code)).toContain('import/circle')
    write('c.yaml', 'steps:\n  - { name: x, uses: agents.missing }\n')
    const broken = await issues(write('d.yaml', `imports: { c: c.yaml }\n${steps}`))
    expect(broken).toMatchObject([
      { code: 'import/failed', line: 1 },
      { code: 'pipeline/unknown', line: 2, file: join(folder, 'c.yaml') },
    ])
  })

  it.each(['../outside.yaml', '/etc/hostname', 'link.yaml'])(
    'reads nothing outside of its folder: %s',
    async (path) => {
      symlinkSync('/etc/hostname', join(folder, 'link.yaml'))
      const found = await issues(write('a.yaml', `imports: { x: ${path} }\n${steps}`))
      expect(found).toMatchObject([{ code: 'import/outside' }])
    },
  )
})

describe('files that are not meant to be read', () => {
  it('refuses 50 MB by its size, before reading', async () => {
    const path = write('big.yaml', '')
    truncateSync(path, 50_000_000)
    const began = performance.now()
    expect((await issues(path))[0]).toMatchObject({ code: 'pipeline/limit' })
    expect(performance.now() - began).toBeLessThan(1_000)
  })

  it('says that there is no file, or that it is a folder', async () => {
    expect((await issues(join(folder, 'no.yaml')))[0]?.message).toContain('no such file')
    expect((await issues(folder))[0]?.message).toContain('no file')
  })
})
