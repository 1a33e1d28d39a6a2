/** The Python examples of the reference run as they are printed, against the built command. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasPython } from '../agents/python.ts'
import { requireBuild, root } from '../support.ts'

const page = readFileSync(join(root, 'docs/reference/python.md'), 'utf8')
const examples = [...page.matchAll(/^```python\n([\s\S]*?)^```/gm)].map(([, code = '']) => code)
const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
}
let project = ''

/** A project in which the package is installed, as far as `npx` can see. */
beforeAll(() => {
  requireBuild()
  project = mkdtempSync(join(tmpdir(), 'proviso-python-'))
  const command = join(project, 'node_modules/.bin/proviso')
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'dist/cli/main.js')}" "$@"\n`)
  chmodSync(command, 0o755)
  writeFileSync(join(project, 'package.json'), '{}')
  writeFileSync(join(project, 'person.json'), JSON.stringify(person))
})

afterAll(() => rmSync(project, { recursive: true, force: true }))

it('there are two examples, each short enough to copy', () => {
  expect(examples.length).toBe(2)
  for (const code of examples)
    expect(code.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(16)
})

describe.runIf(hasPython())('the example of', () => {
  const run = (index: number) =>
    execFileSync('python3', ['-c', examples[index] as string], {
      cwd: project,
      encoding: 'utf8',
      timeout: 60_000,
    })

  it('one text prints the value', { timeout: 60_000 }, () => {
    expect(run(0)).toBe("{'name': 'Ada', 'age': 36}\n")
  })

  it('many texts prints one answer for each', { timeout: 60_000 }, () => {
    expect(run(1)).toBe('True\nFalse\n')
  })
})
