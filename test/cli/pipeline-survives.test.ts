/** Pipelines and templates survive: killed in the middle, taken over from the file, answered by a person, and decided again without a difference. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root, runCommand } from '../support.ts'
import { file, pathInFolder } from './run-support.ts'

/** Workers that note every call; `HANG` makes the second one never answer, so that its process can be killed at it. */
const workers = (log: string) => `
import { appendFileSync } from 'node:fs'
import { defineCapability } from ${JSON.stringify(join(root, 'dist/index.js'))}
const note = (name) => appendFileSync(${JSON.stringify(log)}, name + '\\n')
const worker = (capabilityId, name, answer) =>
  defineCapability({
    capabilityId,
    kind: 'local',
    inputContract: { type: 'object' },
    outputContract: { type: 'string' },
    idempotent: true,
    run: async () => {
      note(name)
      if (name === 'second' && process.env.HANG) await new Promise(() => setInterval(() => {}, 1_000))
      return answer
    },
  })
const person = (capabilityId) =>
  defineCapability({ capabilityId, kind: 'human', inputContract: { type: 'object' }, outputContract: { type: 'string' } })
export const all = [
  worker('first', 'first', 'one'),
  worker('second', 'second', 'two'),
  worker('last', 'last', 'end'),
  worker('proviso.template.model:first', 'first', 'one'),
  worker('proviso.template.model:second', 'second', 'two'),
  worker('proviso.template.model:last', 'last', 'end'),
  person('proviso.template.model:person'),
]
`

const yaml = `name: survives
steps:
  - { name: begin, uses: first }
  - name: each
    kind: map
    map: { iterable_input: input, max_items: 3, body: [{ name: work, uses: second, input: "{{ item }}" }] }
  - name: maybe
    kind: conditional
    condition: { "==": [{ var: steps.begin.output }, one] }
    branches:
      true: [{ name: ask, kind: hitl, message: "Good?", input_schema: { type: string } }]
  - { name: finish, uses: last }
`

const task = (name: string, slot = '') =>
  `<task provider="${name}"${slot}><description>Do ${name}</description><output_format type="text"/></task>`
const xml = `<task type="sequential"><steps>
  ${task('first', ' output_slot="begun"')}
  ${task('second')}
  ${task('person')}
  <cond>
    <case test="{{begun}} eq 'one'">${task('last')}</case>
    <case>${task('second')}</case>
  </cond>
</steps></task>
`

describe.each([
  ['a pipeline', 'survives.yaml', yaml, ['--input', '["a"]']],
  ['a template', 'survives.xml', xml, []],
])('%s', (_, name, text, input) => {
  it('is killed, taken over, answered and replayed', async () => {
    const path = file(name, text)
    const log = pathInFolder(`${name}.log`)
    const use = file(`${name}.mjs`, workers(log))
    const store = ['--store', `sqlite:${pathInFolder(`${name}.db`)}`]
    const again = ['--file', path, '--use', use, ...store]
    const calls = () => readFileSync(log, 'utf8').trim().split('\n')

    const main = join(root, 'dist/cli/main.js')
    const args = [main, 'run', path, ...input, '--use', use, '--run-id', 'r', ...store, '--json']
    const child = spawn(process.execPath, args, { env: { ...process.env, HANG: '1' } })
    let stdout = ''
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      stdout += chunk
      // An attempt of the second worker is in the journal before its call leaves.
      if (/"attempt_start".*second/.test(stdout)) break
    }
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')

    const asked = await runCommand(['resume', 'r', '--by', 'ann', ...again])
    expect(asked.code, asked.stderr).toBe(6)
    expect(calls().filter((each) => each === 'first')).toHaveLength(1)

    const reply = ['reply', 'r:ask:1', 'answer', '--value', '"yes"', '--by', 'ann', ...again]
    const done = await runCommand(reply)
    expect(done, done.stderr).toMatchObject({ code: 0, stdout: '"end"\n' })
    expect(calls().filter((each) => each === 'first')).toHaveLength(1)
    expect(calls().filter((each) => each === 'last')).toHaveLength(1)
    expect(calls().filter((each) => each === 'second').length).toBeLessThanOrEqual(2)

    expect(await runCommand(['replay', 'r', ...again])).toMatchObject({ code: 0, stdout: '' })
    expect(await runCommand(['verify', ...store])).toMatchObject({ code: 0 })
  }, 240_000)
})
