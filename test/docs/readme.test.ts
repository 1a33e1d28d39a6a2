/** The commands of the README work as typed, in an empty folder. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { envNames } from '../seams/base.ts'
import { requireBuild, root } from '../support.ts'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, lines = '']) => lines)
const commands = blocks
  .flatMap((block) => block.trim().split('\n'))
  // Servers run until they are stopped: `test/cli/start.test.ts` and `test/cli/serve.test.ts` run them.
  .filter((line) => line.includes('npx proviso') && !line.includes('proviso serve'))

/** Not 0: the run that waits for a person, and the one that says which key it needs. */
const ends: readonly [part: string, code: number, says: string][] = [
  ['run examples/tea.json', 6, '\n    npx proviso reply '],
  ['run examples/pipelines/agents.yaml', 3, 'OPENAI_API_KEY'],
]

let folder = ''
beforeAll(() => {
  requireBuild()
  folder = mkdtempSync(join(tmpdir(), 'proviso-readme-'))
  symlinkSync(join(root, 'examples'), join(folder, 'examples'), 'junction')
  // What npx does and prints in a project that has the package, without its start-up time.
  mkdirSync(join(folder, 'bin'))
  writeFileSync(
    join(folder, 'bin/npx'),
    `#!/bin/sh\nshift\nexport npm_lifecycle_event=npx npm_lifecycle_script="'proviso' '$1'"\nexec '${process.execPath}' '${root}/dist/cli/main.js' "$@"\n`,
  )
  chmodSync(join(folder, 'bin/npx'), 0o755)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('has commands to try', () => {
  expect(commands.length).toBeGreaterThanOrEqual(7)
})

/** What is run as it was typed, without any variable of ours. */
function typed(command: string) {
  const bare = Object.fromEntries(Object.values(envNames).flatMap((names) => names.map((name) => [name, ''])))
  const path = `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`
  const env = { ...process.env, ...bare, NO_COLOR: '1', PATH: path }
  return spawnSync('sh', ['-c', command], { cwd: folder, env, encoding: 'utf8' })
}

it.each(commands)('%s', (command) => {
  const done = typed(command)
  const [, code, says] = ends.find(([part]) => command.includes(part)) ?? ['', 0, '']
  expect(done.status, done.stderr).toBe(code)
  expect(done.stderr).toContain(says)
})

it('prints the command that answers so that it can be copied', () => {
  const run = commands.find((command) => command.includes('run examples/tea.json')) ?? ''
  const [, answer = ''] = /\n {4}(npx proviso reply .*)\n/.exec(typed(run).stderr) ?? []
  const done = typed(answer)
  expect(done.status, done.stderr).toBe(0)
  expect(JSON.parse(done.stdout)).toMatchObject({ minutes: 5 })
})
