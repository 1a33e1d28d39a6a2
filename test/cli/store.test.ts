/** Promises of the commands about runs that are kept, tested on the built file with a SQLite store. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { proviso, root, runCommand } from '../support.ts'
import { approved, file, pathInFolder, paused, runFile } from './run-support.ts'

let stores = 0

/** Starts a run of this file on a store of its own, and speaks to it. */
async function started(content: unknown) {
  const store = `sqlite:${pathInFolder(`${++stores}.db`)}`
  const path = file(`${stores}.json`, content)
  const command = (...args: string[]) => runCommand([...args, '--store', store])
  const begun = await command('run', path, '--run-id', 'r')
  return { path, store, command, begun }
}

const waiting = () => started(runFile({ envelope: approved }))

it('asks lists what waits for a person', async () => {
  const { command } = await waiting()
  const asks = await command('asks')
  expect(asks.code).toBe(0)
  expect(asks.stdout).toMatch(
    /^REQUEST .*\nr:ask:1 +final +- +approve,edit,reject +24 h +- +Approve the answer\?\n$/,
  )
  expect(JSON.parse((await command('asks', '--run', 'r', '--json')).stdout)).toMatchObject([
    { requestId: 'r:ask:1', value: { text: 'Tea' } },
  ])
  expect(await command('asks', '--run', 'other')).toMatchObject({ code: 0, stdout: '' })
})

it('asks continues after the last one that it has listed, and lists what is answered', async () => {
  const { command, path } = await waiting()
  await command('run', path, '--run-id', 's')
  const first = await command('asks', '--limit', '1', '--json')
  expect(JSON.parse(first.stdout)).toMatchObject([{ requestId: 'r:ask:1' }])
  expect(first.stderr).toBe('More requests: pass --after r:ask:1\n')
  const rest = await command('asks', '--limit', '1', '--after', 'r:ask:1', '--json')
  expect(JSON.parse(rest.stdout)).toMatchObject([{ requestId: 's:ask:1' }])
  expect(rest.stderr).toBe('')
  await command('reply', 'r:ask:1', 'approve', '--by', 'ann', '--record-only')
  const resolved = await command('asks', '--status', 'resolved', '--json')
  expect(JSON.parse(resolved.stdout)).toMatchObject([{ requestId: 'r:ask:1', by: 'ann' }])
  const lost = await command('asks', '--after', 'none')
  expect(lost).toMatchObject({ code: 2, stdout: '' })
  expect(lost.stderr).toContain('Ask "none" not found')
})

it('tasks lists the tasks of a person or a role, by priority', async () => {
  const person = (id: string, human: object) => ({
    capabilityId: id,
    inputContract: { type: 'object' },
    outputContract: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    human,
  })
  const { command } = await started({
    ...runFile({
      draft: {
        nodes: [
          { id: 'a', capabilityId: 'ann' },
          { id: 'b', capabilityId: 'legal' },
        ],
      },
    }),
    capabilities: [
      person('ann', { assignee: 'ann' }),
      person('legal', { role: 'legal', priority: 'urgent' }),
    ],
  })
  const all = await command('tasks')
  expect(all).toMatchObject({ code: 0, stderr: '' })
  expect(all.stdout).toMatch(/^TASK .*\nr:ask:2 +urgent .* role legal .*\nr:ask:1 +normal .* ann .*\n$/)
  expect(JSON.parse((await command('tasks', '--for', 'Ann', '--json')).stdout)).toMatchObject([
    { requestId: 'r:ask:1' },
  ])
  expect(JSON.parse((await command('tasks', '--role', 'legal', '--json')).stdout)).toMatchObject([
    { requestId: 'r:ask:2', assignment: { role: 'legal' } },
  ])
  const wrong = await command(
    'reply',
    'r:ask:1',
    'answer',
    '--value',
    '{"text": "x"}',
    '--by',
    'ben',
    '--record-only',
  )
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('it is assigned to "ann"') })
  expect((await command('tasks', '--for', 'a', '--role', 'b')).code).toBe(2)
})

it('reply shows what is decided, records it, and carries the run to its answer; a second one is refused', async () => {
  const { command, path } = await waiting()
  const reply = ['reply', 'r:ask:1', 'approve', '--by', 'ann', '--file', path]
  const done = await command(...reply)
  expect(done).toMatchObject({ code: 0, stdout: '{\n  "text": "Tea"\n}\n' })
  expect(done.stderr).toContain('Approve the answer?')
  const again = await command(...reply)
  expect(again).toMatchObject({ code: 2, stdout: '' })
  expect(again.stderr).toContain('already answered with approve by ann')
})

it('reply holds an edited value to the contract, from JSON, a file or stdin', async () => {
  const { command, path, store } = await waiting()
  const edit = (value: string) => [
    'reply',
    'r:ask:1',
    'edit',
    '--value',
    value,
    '--by',
    'ann',
    '--file',
    path,
  ]
  const wrong = await command(...edit('{"text": 7}'))
  expect(wrong).toMatchObject({ code: 2, stdout: '' })
  expect(wrong.stderr).toContain('✗ /text')
  expect((await command(...edit('{text'))).stderr).toContain('--value is not JSON')
  expect((await command(...edit(`@${pathInFolder('none.json')}`))).code).toBe(2)
  const done = await runCommand([...edit('-'), '--store', store], { stdin: '{"text": "Hot tea"}' })
  expect(done).toMatchObject({ code: 0, stdout: '{\n  "text": "Hot tea"\n}\n' })
})

const twoNodes = {
  ...runFile({ envelope: { policies: { planner: { directives: { hitlRequiredFor: ['first'] } } } } }),
  draft: {
    nodes: [
      { id: 'first', capabilityId: 'write' },
      { id: 'second', capabilityId: 'write', inputs: { text: { node: 'first', pointer: '/text' } } },
    ],
    output: { node: 'second' },
  },
}

it('reply without what the run needs is refused before anything is recorded, and --record-only records it', async () => {
  const { command, path } = await started(twoNodes)
  const reply = ['reply', 'r:ask:1', 'approve', '--by', 'ann']
  const refused = await command(...reply)
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain('The run needs missing capabilities: "write". Nothing was recorded')
  expect(JSON.parse((await command('asks', '--json')).stdout)).toHaveLength(1)
  const recorded = await command(...reply, '--record-only')
  expect(recorded).toMatchObject({ code: 0, stdout: '' })
  expect(recorded.stderr).toContain('Another process continues the run')
  expect(JSON.parse((await command('asks', '--json')).stdout)).toEqual([])
  expect(JSON.parse((await command('runs', '--json')).stdout)).toMatchObject([{ status: 'running' }])
  const resume = await command('resume', 'r', '--by', 'ann')
  expect(resume).toMatchObject({ code: 2, stdout: '' })
  expect(resume.stderr).toContain('"write"')
  const nothing = await command('resume', 'r', '--by', 'ann', '--record-only')
  expect(nothing.code).toBe(2)
  expect(nothing.stderr).toContain('Cannot record: the run is running, not paused')
  expect(await command('resume', 'r', '--by', 'ann', '-f', path)).toMatchObject({
    code: 0,
    stdout: '{\n  "text": "Tea"\n}\n',
  })
})

it('a no that ends the run needs no capability, nor does a yes to the answer', async () => {
  const rejected = await started(twoNodes)
  const no = ['reply', 'r:ask:1', 'reject', '--reject-action', 'fail', '--by', 'ann']
  expect(await rejected.command(...no)).toMatchObject({ code: 3 })
  const { command } = await waiting()
  expect(await command('reply', 'r:ask:1', 'approve', '--by', 'ann')).toMatchObject({ code: 0 })
})

it('resume of a paused run can be recorded alone', async () => {
  const { command, path } = await started(runFile({ envelope: paused }))
  expect(await command('resume', 'r', '--by', 'ann')).toMatchObject({ code: 2 })
  expect(await command('resume', 'r', '--by', 'ann', '--record-only')).toMatchObject({ code: 0 })
  expect(await command('resume', 'r', '--by', 'ann', '-f', path)).toMatchObject({ code: 0 })
})

it('a rejection runs the work again with the note, and asks about the new value', async () => {
  const script = [{ text: '{"text": "Tea"}' }, { text: '{"text": "Black tea"}' }]
  const { command, path } = await started(runFile({ envelope: approved, script }))
  const again = await command('reply', 'r:ask:1', 'reject', '--note', 'dull', '--by', 'ann', '-f', path)
  expect(again).toMatchObject({ code: 6 })
  expect(again.stderr).toContain('Black tea')
  expect(again.stderr).toMatch(/said before by ann: dull/)
  const shown = await command('show', 'r')
  expect(shown.stdout).toMatch(/FEEDBACK +ABOUT +BY +SAYS\nreply +write +ann +dull/)
  const done = await command('reply', 'r:ask:2', 'approve', '--by', 'ann', '-f', path)
  expect(done).toMatchObject({ code: 0, stdout: '{\n  "text": "Black tea"\n}\n' })
  expect(await command('verify')).toMatchObject({ code: 0 })
})

it('a rejection that needs the work again is refused where the capability is not here', async () => {
  const { command } = await waiting()
  const reply = ['reply', 'r:ask:1', 'reject', '--by', 'ann']
  expect(await command(...reply)).toMatchObject({ code: 2 })
  expect(await command(...reply, '--reject-action', 'fail')).toMatchObject({ code: 3 })
})

it('a rejection with --reject-action fail fails the run', async () => {
  const { command, path } = await waiting()
  const reply = ['reply', 'r:ask:1', 'reject', '--note', 'dull', '--by', 'ann', '-f', path]
  const done = await command(...reply, '--reject-action', 'fail')
  expect(done).toMatchObject({ code: 3, stdout: '' })
  expect(done.stderr).toContain('ann said no: dull')
  const shown = await command('show', 'r', '--json')
  expect(JSON.parse(shown.stdout)).toMatchObject({
    error: {
      type: 'TASK_FAILURE',
      reason: 'execution_halted',
      message: expect.stringContaining('ann said no: dull'),
      details: { code: 'ask/rejected', hint: expect.any(String) },
      path: '',
    },
  })
  expect((await command('show', 'r')).stdout).toMatch(/error +ask\/rejected: ann said no: dull/)
})

it('reply works as run prints it, also where no variable says who works there', async () => {
  const { command, begun } = await waiting()
  const [, printed = ''] = /^ +proviso (reply .+)$/m.exec(begun.stderr) ?? []
  const env = { USER: undefined, USERNAME: undefined }
  expect(await proviso(printed.split(' '), { env })).toMatchObject({ code: 0 })
  expect((await command('show', 'r')).stdout).toContain(userInfo().username)
})

it('reply refuses an ask that is not there, an invalid decision, and a missing name', async () => {
  const { command } = await waiting()
  expect((await command('reply', 'x', 'approve', '--by', 'a')).stderr).toContain('Ask "x" not found')
  expect(await command('reply', 'r:ask:1', 'yes', '--by', 'a')).toMatchObject({ code: 2 })
  expect((await command('reply', 'r:ask:1', 'approve', '--by', ' ')).stderr).toContain('no name is given')
})

it('reply --json prints the events from the decision on', async () => {
  const { command, path } = await waiting()
  const done = await command('reply', 'r:ask:1', 'approve', '--by', 'ann', '--file', path, '--json')
  const types = done.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).type)
  expect(types[0]).toBe('hitl_resolved')
  expect(types.at(-1)).toBe('complete')
})

it('a person can be the one who does the work', async () => {
  const { capabilities, ...rest } = runFile()
  const human = { ...capabilities[0], kind: 'human', settings: {} }
  const { begun, command, path } = await started({ ...rest, capabilities: [human] })
  expect(begun.code).toBe(6)
  expect(begun.stderr).toContain('proviso reply r:ask:1 answer --value JSON')
  const value = ['--value', '{"text": "By hand"}']
  const done = await command('reply', 'r:ask:1', 'answer', ...value, '--by', 'ann', '--file', path)
  expect(done).toMatchObject({ code: 0, stdout: '{\n  "text": "By hand"\n}\n' })
})

it('runs and show print the status, without secrets', async () => {
  const { command } = await started(runFile({ envelope: { inputs: { password: 'hunter22' } } }))
  expect((await command('runs')).stdout).toMatch(/^RUN .*\nr +completed +1 +\d+ .*One line about tea\n$/)
  expect((await command('runs', '--status', 'failed', 'cancelled')).stdout).toBe('')
  expect(JSON.parse((await command('runs', '--limit', '1', '--json')).stdout)).toMatchObject([{ runId: 'r' }])
  const page = await command('show', 'r')
  expect(page.stdout).toMatch(/status {5}completed\n[\s\S]*write +completed +write +1[\s\S]*answer\n\{/)
  const all = await command('show', 'r', '--json')
  expect(all.stdout).not.toContain('hunter22')
  expect(JSON.parse(all.stdout)).toMatchObject({
    run: { runId: 'r' },
    plan: { version: 1 },
    nodes: [{ nodeId: 'write' }],
    output: { text: 'Tea' },
    provenance: [{ nodeId: 'write', capabilityId: 'write' }],
  })
  expect(await command('show', 'none')).toMatchObject({ code: 2, stdout: '' })
})

it('show has what a person and the run have said to each other', async () => {
  const { command } = await waiting()
  await command('reply', 'r:ask:1', 'reject', '--note', 'dull', '--by', 'ann', '--record-only')
  const page = (await command('show', 'r')).stdout
  expect(page).toMatch(/SAID AT .*\n.* agent +- +Approve the answer\? · \{"text":"Tea"\}\n/)
  expect(page).toMatch(/ operator +ann +reject · dull\n/)
  expect(JSON.parse((await command('show', 'r', '--json')).stdout).messages).toMatchObject([
    { role: 'agent', requestId: 'r:ask:1' },
    { role: 'operator', body: { decision: 'reject', by: 'ann', note: 'dull' } },
  ])
})

it('cancel ends a run that waits; one that is over is left alone', async () => {
  const { command } = await waiting()
  const done = await command('cancel', 'r', '--by', 'ann', '--reason', 'no time')
  expect(done).toMatchObject({ code: 0, stdout: '' })
  expect(done.stderr).toContain('Cancelled by ann: no time')
  expect((await command('runs')).stdout).toContain('cancelled')
  expect(await command('cancel', 'r', '--by', 'ann')).toMatchObject({ code: 2 })
})

it('resume continues a paused run, unless it has another plan than expected', async () => {
  const { command, path } = await started(runFile({ envelope: paused }))
  const resume = ['resume', 'r', '--by', 'ann', '--file', path]
  expect(await command(...resume, '--expected-plan-version', '7')).toMatchObject({ code: 2 })
  expect(await command(...resume)).toMatchObject({ code: 0, stdout: '{\n  "text": "Tea"\n}\n' })
  expect((await command(...resume)).stderr).toContain('Nothing to resume: the run is not paused')
})

it('resume takes over a run whose process was killed', async () => {
  const store = `sqlite:${pathInFolder('killed.db')}`
  const main = join(root, 'dist/cli/main.js')
  const slow = file('killed.json', runFile({ script: [{ text: '{}', delayMs: 60_000 }] }))
  const child = spawn(process.execPath, [main, 'run', slow, '--run-id', 'r', '--store', store, '--json'])
  child.stdout.setEncoding('utf8')
  let stdout = ''
  for await (const chunk of child.stdout) {
    stdout += chunk
    if (stdout.includes('"attempt_start"')) break
  }
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  const quick = file('quick.json', runFile())
  const done = await runCommand(['resume', 'r', '--by', 'ann', '--file', quick, '--store', store])
  expect(done).toMatchObject({ code: 0, stdout: '{\n  "text": "Tea"\n}\n' })
  expect(await runCommand(['verify', '--store', store])).toMatchObject({ code: 0 })
})

it('replay finds no difference, and says what other policies would change', async () => {
  const { command, path } = await started(runFile())
  expect(await command('replay', 'r', '--file', path)).toMatchObject({ code: 0, stdout: '' })
  const stop = [{ id: 'stop', trigger: { kind: 'onNodeComplete' }, action: { type: 'fail' } }]
  const policies = file('policies.json', stop)
  const differs = await command('replay', 'r', '--file', path, '--policies', policies)
  expect(differs.code).toBe(3)
  expect(differs.stdout).toContain('policy_triggered write: stop, fail')
  const json = await command('replay', 'r', '--file', path, '--policies', policies, '--json')
  expect(JSON.parse(json.stdout).differences.length).toBeGreaterThan(0)
})

it('replay refuses policies and node data that cannot be read, with their place', async () => {
  const { command } = await started(runFile())
  const policies = file('bad-policies.json', [
    { id: 'x', trigger: { kind: 'onSart' }, action: { type: 'fail' } },
  ])
  const done = await command('replay', 'r', '--policies', policies)
  expect(done.code).toBe(2)
  expect(done.stderr).toContain(`${policies}:`)
  expect(done.stderr).toContain('/0/trigger/kind')
  const list = file('list.json', { write: 7 })
  expect((await command('replay', 'r', '--node-data', list)).stderr).toContain('/write  must be an object')
  const unknown = file('unknown.json', { wriet: {} })
  expect((await command('replay', 'r', '--node-data', unknown)).stderr).toContain('Its nodes are write')
})

it('verify checks every run, beside other writers', async () => {
  const { command } = await waiting()
  expect(await command('verify')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^1 run, \d+ events: all in order\n$/),
  })
  expect(JSON.parse((await command('verify', 'r', '--json')).stdout)).toMatchObject({
    ok: true,
    runs: 1,
    bad: [],
  })
  expect(await command('verify', 'none')).toMatchObject({ code: 2, stdout: '' })
})

it('runs filters by cost: what is not an amount is refused, and a run without a known cost counts as 0', async () => {
  const { command } = await started(runFile())
  const count = async (...args: string[]) =>
    JSON.parse((await command('runs', '--json', ...args)).stdout).length
  expect(await count('--max-cost', '0')).toBe(1)
  expect(await count('--min-cost', '0.001')).toBe(0)
  expect(await count('--min-cost', '0', '--max-cost', '2.5')).toBe(1)
  const refused = await command('runs', '--min-cost', '-1')
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain('--min-cost')
})

it.each([
  ['run', 'else memory:'],
  ['status', 'else sqlite:proviso.db'],
  ['runs', 'required, unless $PROVISO_STORE is set'],
])('the help of %s says which store it opens if none is named', async (command, words) => {
  const { stdout } = await runCommand([command, '--help'])
  expect(stdout.replace(/\s+/g, ' ')).toContain(words)
})
