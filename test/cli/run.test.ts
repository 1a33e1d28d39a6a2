/** Promises of `proviso run`, tested on the built file: what it prints where, and every exit code. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { proviso, root, runCommand } from '../support.ts'
import { approved, file, pathInFolder, paused, runFile, scripted } from './run-support.ts'

const run = (name: string, content: unknown, ...args: string[]) =>
  runCommand(['run', file(name, content), '--run-id', 'r', ...args])

describe('how a run ends', () => {
  it('0: prints the answer on stdout, and the way there on stderr', async () => {
    const done = await run('ok.json', runFile())
    expect(done).toMatchObject({ code: 0, stdout: '{\n  "text": "Tea"\n}\n' })
    expect(done.stderr).toMatch(/^▸ write running\n✓ write completed {2}\d+ ms\ncompleted: run r, /)
  })

  it('3: says why the contract is not met, and prints no value', async () => {
    const done = await run('bad.json', runFile({ script: [{ text: '{"title": "Tea"}' }] }))
    expect(done).toMatchObject({ code: 3, stdout: '' })
    expect(done.stderr).toContain('✗ /text')
    expect(done.stderr).toContain('See the issues; change the output contract')
    expect(done.stderr).toContain('attempt/invalid: run r')
  })

  it('3: a plan that is not proved does not run; each finding has a place and a remedy', async () => {
    const done = await run('unproved.json', runFile({ node: { capabilityId: 'wriet' } }))
    expect(done).toMatchObject({ code: 3, stdout: '' })
    expect(done.stderr).toContain('the plan was rejected')
    expect(done.stderr).toContain('node "write"')
    expect(done.stderr).not.toContain('running')
  })

  it('6: says what is asked, and with which command it is answered', async () => {
    const path = file('ask.json', runFile({ envelope: approved }))
    const store = `sqlite:${pathInFolder('ask.db')}`
    const done = await runCommand(['run', path, '--run-id', 'r', '--store', store])
    expect(done).toMatchObject({ code: 6, stdout: '' })
    expect(done.stderr).toContain('Approve the answer?\n    {\n      "text": "Tea"\n    }\n')
    expect(done.stderr).toContain(`\n    proviso reply r:ask:1 approve --store ${store} --file ${path}\n`)
  })

  it('6: says that a run in memory is gone, and how to keep one, and names no command that cannot work', async () => {
    for (const envelope of [approved, paused]) {
      const done = await run('gone.json', runFile({ envelope }))
      expect(done.code).toBe(6)
      expect(done.stderr).toContain('Run it with --store sqlite:PATH to keep it')
      expect(done.stderr).not.toMatch(/proviso (reply|resume)/)
    }
  })

  it('2: a run whose placement needs a worker does not wait for one that cannot reach its store', async () => {
    const done = await run(
      'placed.json',
      runFile({ envelope: { constraints: { placement: { region: 'eu' } } } }),
    )
    expect(done).toMatchObject({ code: 2, stdout: '' })
    expect(done.stderr).toContain('Cannot execute the run here: its placement is region=eu')
    expect(done.stderr).toContain('worker --labels region=eu')
  })

  it('2: a store that cannot be read or reached', async () => {
    const garbage = file('garbage.db', 'this is no database, however long it is '.repeat(100))
    for (const command of ['runs', 'asks']) {
      const unreadable = await runCommand([command, '--store', `sqlite:${garbage}`])
      expect(unreadable).toMatchObject({ code: 2, stdout: '' })
      expect(unreadable.stderr).toContain(garbage)
    }
    const away = await runCommand(['runs', '--store', 'postgres://user:secret@127.0.0.1:1/x'])
    expect(away).toMatchObject({ code: 2, stdout: '' })
    expect(away.stderr).toContain('127.0.0.1:1')
    expect(away.stderr).not.toContain('secret')
  })

  it('6: a paused run names the command that resumes it', async () => {
    const path = file('paused.json', runFile({ envelope: paused }))
    const env = { PROVISO_STORE: `sqlite:${pathInFolder('paused.db')}` }
    const done = await proviso(['run', path, '--run-id', 'r'], { env })
    expect(done).toMatchObject({ code: 6, stdout: '' })
    expect(done.stderr).toContain('Not yet')
    expect(done.stderr).toContain(`\n    proviso resume r --expected-plan-version 0 --file ${path}\n`)
  })

  it('7: the budget is exhausted', async () => {
    const draft = { limits: { maxCalls: 1 } }
    const node = { retry: { max: 3 } }
    const done = await run('poor.json', runFile({ draft, node, script: [{ text: 'no' }] }))
    expect(done).toMatchObject({ code: 7, stdout: '' })
    expect(done.stderr).toContain('budget/exhausted')
  })

  it('7: the budget is exhausted inside of a call', async () => {
    const capability = {
      ...scripted('write', []),
      kind: 'model',
      settings: {},
      preferredModels: ['compatible/http://127.0.0.1:1/v1#any'],
    }
    // Of the node: a limit of the run below what the plan takes at least would reject it.
    const poor = { ...runFile({ node: { tokenBudget: 50 } }), capabilities: [capability] }
    const done = await run('too-poor.json', poor)
    expect(done).toMatchObject({ code: 7, stdout: '' })
    expect(done.stderr).toContain('The budget of tokens does not allow another call')
    expect(done.stderr).toContain('budget/exhausted: run r')
  })

  it('130: Ctrl-C cancels the run, and waits until it has ended', async () => {
    const slow = file('slow.json', runFile({ script: [{ text: '{}', delayMs: 60_000 }] }))
    const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'run', slow, '--json'])
    let stdout = ''
    child.stdout.setEncoding('utf8')
    for await (const chunk of child.stdout) {
      stdout += chunk
      if (stdout.includes('"attempt_start"') && !child.killed) child.kill('SIGINT')
    }
    const code = child.exitCode ?? (await once(child, 'close'))[0]
    expect(code).toBe(130)
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      type: 'complete',
      payload: { status: 'cancelled', error: { details: { code: 'run/cancelled' } } },
    })
  })
})

describe('--json', () => {
  it('prints every event as one line, numbered without gaps, the last being complete', async () => {
    const done = await run('frames.json', runFile(), '--json')
    expect(done).toMatchObject({ code: 0, stderr: '' })
    const frames = done.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(frames.map(({ id }) => id)).toEqual(frames.map((_, index) => index + 1))
    for (const frame of frames) {
      expect(frame).toMatchObject({ runId: 'r', correlationId: 'r', planVersion: expect.any(Number) })
      expect(new Date(frame.timestamp).toISOString()).toBe(frame.timestamp)
    }
    expect(frames[0].type).toBe('start')
    const started = frames.find(({ type }) => type === 'node_start')
    expect(started).toMatchObject({ nodeId: 'write', facetProvenance: { input: [], output: [] } })
    expect(frames.at(-1)).toMatchObject({
      type: 'complete',
      payload: { status: 'completed', output: { text: 'Tea' } },
    })
  })

  it('leaves secrets out, but not out of the answer', async () => {
    const envelope = { inputs: { apiKey: 'sk-123' } }
    const done = await run('secret.json', runFile({ envelope }), '--json')
    expect(done.stdout).toContain('[redacted]')
    expect(done.stdout).not.toContain('sk-123')
  })

  it('says on stderr what is asked when the run waits', async () => {
    const store = `sqlite:${pathInFolder('waits.db')}`
    const done = await run('waits.json', runFile({ envelope: approved }), '--json', '--store', store)
    expect(done.code).toBe(6)
    expect(done.stdout).toContain('"type":"hitl_request"')
    expect(done.stderr).toContain('proviso reply r:ask:1 approve')
  })
})

describe('input that cannot be used ends with 2 and says where', () => {
  it('every issue of the file at once, with line and column', async () => {
    const content = `{
  "envelope": { "objective": "x", "outputContract": { "schema": { "type": "strin" } } },
  "draft": {
    "nodes": [
      { "id": "a", "capabilityID": "x" }
    ]
  },
  "capabilites": []
}`
    const path = file('wrong.json', content)
    const done = await runCommand(['run', path])
    expect(done).toMatchObject({ code: 2, stdout: '' })
    expect(done.stderr).toContain(`✗ ${path}:2:75 /envelope/outputContract/schema/type`)
    expect(done.stderr).toContain(`✗ ${path}:5:36 /draft/nodes/0/capabilityID`)
    expect(done.stderr).toContain('Did you mean "capabilities"?')
  })

  it.each([
    ['no JSON', '{"envelope": {"a": 1}, }', ':1:24: the file is not JSON'],
    ['no object', '[]', 'must be an object'],
    ['no envelope', '{}', 'has no "envelope"'],
    [
      'capabilities that are no list',
      '{"envelope": {}, "capabilities": {}}',
      'must be a list of capabilities',
    ],
    [
      'a function in a file',
      { ...runFile(), capabilities: [{ capabilityId: 'f', inputContract: {}, outputContract: {} }] },
      'bring it with --use FILE',
    ],
    ['two capabilities of one name', twice(), 'Cannot register "write": two capabilities have this id'],
  ])('%s', async (what, content, message) => {
    const done = await run(`${what}.json`, content)
    expect(done.stderr).toContain(message)
    expect(done).toMatchObject({ code: 2, stdout: '' })
  })

  it('a file that is not there, and a store of no known kind', async () => {
    expect(await runCommand(['run', pathInFolder('nowhere.json')])).toMatchObject({ code: 2 })
    expect(await run('s.json', runFile(), '--store', 'mongo:x')).toMatchObject({ code: 2 })
  })
})

describe('--use', () => {
  const module = (
    body: string,
  ) => `import { defineCapability } from ${JSON.stringify(join(root, 'dist/index.js'))}
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
${body}`
  const define = (id: string) =>
    `defineCapability({ capabilityId: '${id}', inputContract: { type: 'object' }, outputContract: text, run: () => ({ text: '${id}' }) })`

  it('brings capabilities as named exports and as a list, and facets', async () => {
    const used = module(`export const one = ${define('one')}
export default [${define('two')}]
export const mood = { name: 'mood', schema: { type: 'string' }, metadata: { direction: 'input' } }`)
    const draft = {
      nodes: [
        { id: 'one', capabilityId: 'one' },
        { id: 'two', capabilityId: 'two' },
      ],
      edges: [{ from: 'one', to: 'two' }],
      output: { node: 'two' },
    }
    const done = await run('used.json', { ...runFile(), draft }, '--use', file('good.mjs', used))
    expect(done).toMatchObject({ code: 0, stdout: '{\n  "text": "two"\n}\n' })
  })

  it.each([
    ['no file', undefined, 'no such file'],
    ['a file that fails', 'throw new Error("boom")', 'boom'],
    ['no exports', 'const a = 1', 'exports nothing'],
    ['a helper', 'export const help = () => 1', 'the export "help" is neither a capability nor a facet'],
    [
      'bare data',
      'export default [{ capabilityId: "x" }]',
      'the export "default[0]" is data about a capability',
    ],
    ['no facet', 'export const f = { schema: {} }', 'the export "f" is no facet'],
  ])('refuses %s', async (name, content, message) => {
    const path = content === undefined ? pathInFolder('none.mjs') : file(`${name}.mjs`, content)
    const done = await run('u.json', runFile(), '--use', path)
    expect(done.stderr).toContain(path)
    expect(done.stderr).toContain(message)
    expect(done).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('commands about runs that are there', () => {
  it.each([
    ['asks'],
    ['tasks'],
    ['runs'],
    ['show', 'r'],
    ['cancel', 'r', '--by', 'a'],
    ['replay', 'r'],
    ['verify'],
  ])('%s asks which store', async (...args) => {
    const done = await runCommand(args)
    expect(done).toMatchObject({ code: 2, stdout: '' })
    expect(done.stderr).toContain('Cannot open a store: none is given')
  })

  it('make no store by a slip of the pen', async () => {
    const done = await runCommand(['runs', '--store', `sqlite:${pathInFolder('typo.db')}`])
    expect(done).toMatchObject({ code: 2 })
    expect(done.stderr).toContain('Cannot open the store')
  })
})

function twice() {
  const { capabilities, ...rest } = runFile()
  return { ...rest, capabilities: [...capabilities, scripted('write', [])] }
}
