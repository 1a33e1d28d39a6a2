/** Pipelines and settings on the command line, tested on the built file: answers, places of mistakes, exit codes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenAiServer, openAiServer } from '../models/openai-server.ts'
import { openLibsql } from '../seams/stores.ts'
import { proviso, runCommand } from '../support.ts'
import { file, pathInFolder } from './run-support.ts'

let server: OpenAiServer
beforeAll(async () => {
  server = await openAiServer([{ text: '{"title": "Tea"}' }])
})
afterAll(() => server.close())

const env = () => ({ PROVISO_COMPATIBLE_BASE_URL: server.url, PROVISO_COMPATIBLE_API_KEY: 'k' })

const titled = `name: demo
agents:
  namer:
    model: compatible/test-model
    output_schema: { type: object, required: [title], properties: { title: { type: string } } }
steps:
  - { name: find, agent: namer, input: "A title for {{ input.topic }}" }
`

describe('proviso run pipeline.yaml', () => {
  it('0: the same engine, reader and judge; the answer on stdout, and that structured output was promoted on stderr', async () => {
    const done = await proviso(['run', file('ok.yaml', titled), '--input', '{"topic":"tea"}'], { env: env() })
    expect(done).toMatchObject({ code: 0, stdout: '{\n  "title": "Tea"\n}\n' })
    expect(done.stderr).toContain('structured_output: openai_json for find')
    expect(JSON.stringify(server.seen.at(-1)?.body)).toContain('A title for tea')
  })

  it('keeps a ledger of corrections where the settings say so, and no table of it otherwise (AROS-45)', async () => {
    const path = file('ledger.yaml', titled)
    const tables = async (name: string, set: readonly string[]) => {
      const store = pathInFolder(name)
      const given = ['run', path, '--input', '{"topic":"tea"}', '--store', `sqlite:${store}`, ...set]
      expect((await proviso(given, { env: env() })).code).toBe(0)
      const connection = openLibsql(store)
      const rows = connection.execute("select name from sqlite_master where name = 'correction_ledger'")
      connection.close()
      return rows.length
    }
    expect(await tables('without.db', [])).toBe(0)
    expect(await tables('with.db', ['--set', 'correction_ledger_enabled=true'])).toBe(1)
  })

  it('is found again by its name, not by what it says that it does', async () => {
    const store = `sqlite:${pathInFolder('named.db')}`
    const text = titled.replace('name: demo', 'name: demo\ndescription: Finds a title')
    const path = file('named.yaml', text)
    const given = ['run', path, '--input', '{"topic":"tea"}', '--store', store]
    expect((await proviso(given, { env: env() })).code).toBe(0)
    const runs = async (name: string) => {
      const looked = await runCommand(['health-check', '--json', '--store', store, '--pipeline', name])
      return JSON.parse(looked.stdout).totals.runs
    }
    expect(await runs('demo')).toBe(1)
    expect(await runs('Finds a title')).toBe(0)
  })

  it('is concise, and shows the trace of every model call with telemetry.verbose (FSD-32, FSD-50)', async () => {
    const toml = file('loud.toml', '[aros.telemetry]\nverbose = true\n')
    const given = ['run', file('loud.yaml', titled), '--input', '{"topic":"tea"}']
    const concise = await proviso(given, { env: env() })
    const loud = await proviso([...given, '--config', toml], { env: env() })
    expect([concise.code, loud.code]).toEqual([0, 0])
    expect(loud.stdout).toBe(concise.stdout)
    expect(concise.stderr).not.toContain('aros.soe')
    expect(loud.stderr).toMatch(/· find grammar\.applied .*schema_hash=/)
  })

  it('takes its input from stdin and from a file, as JSON or as text', async () => {
    const wrap = file('wrap.yaml', 'steps: [{ name: w, uses: wrap_dict }]\n')
    expect((await runCommand(['run', wrap, '--input', '-'], { stdin: 'plain text' })).stdout).toContain(
      '"plain text"',
    )
    expect((await runCommand(['run', wrap, '--input', `@${file('in.json', '[1]')}`])).stdout).toContain('1')
  })

  it('2: every mistake with its line and a caret', async () => {
    const done = await runCommand(['run', file('bad.yaml', titled.replace('agent: namer', 'agnt: namer'))])
    expect(done).toMatchObject({ code: 2, stdout: '' })
    expect(done.stderr).toContain('bad.yaml:7:19')
    expect(done.stderr).toContain('^^^^')
    expect(done.stderr).toContain('Did you mean "agent"?')
  })

  it('5: an import that fails', async () => {
    const done = await runCommand([
      'run',
      file('imp.yaml', 'imports: { a: none.yaml }\nsteps: [{ name: s, uses: imports.a }]\n'),
    ])
    expect(done).toMatchObject({ code: 5, stdout: '' })
    expect(done.stderr).toContain('imp.yaml:1:')
  })

  it('6, and on with the answer: a person is asked, and the file alone carries the run on', async () => {
    const path = file(
      'ask.yaml',
      'steps: [{ name: ok, kind: hitl, message: "Good?", input_schema: { type: boolean } }, { name: w, uses: wrap_dict }]\n',
    )
    const store = `sqlite:${pathInFolder('pipeline.db')}`
    const asked = await runCommand(['run', path, '--input', 'x', '--run-id', 'r', '--store', store])
    expect(asked.code).toBe(6)
    expect(asked.stderr).toContain(`--file ${path}`)
    const done = await runCommand([
      'reply',
      'r:ask:1',
      'answer',
      '--value',
      'true',
      '--store',
      store,
      '--file',
      path,
      '--by',
      'ann',
    ])
    expect(done).toMatchObject({ code: 0, stdout: '{\n  "value": true\n}\n' })
  })

  it('proves a pipeline without running it', async () => {
    const done = await runCommand([
      'prove',
      file('prove.yaml', titled),
      '--input',
      '{"topic":"tea"}',
      '--assume-providers',
    ])
    expect(done.code).toBe(0)
    expect(done.stdout).toContain('accepted')
  })

  it('refuses --input for anything else', async () => {
    expect(await runCommand(['run', file('e.json', '{}'), '--input', 'x'])).toMatchObject({ code: 2 })
  })
})

describe('proviso config', () => {
  it('says what holds and where it comes from', async () => {
    const path = file('my.toml', 'preset = "safe"\n[aros.repair]\nmax_attempts = 1\n')
    const done = await proviso(['config', '--explain', '--config', path, '--set', 'schema_simplify=true'], {
      env: { PROVISO_AROS_MAX_UNESCAPE_DEPTH: '5' },
    })
    expect(done.code).toBe(0)
    const rows = Object.fromEntries(
      done.stdout.split('\n').map((line) => [line.split(/\s{2,}/)[0], line.split(/\s{2,}/).slice(1, 3)]),
    )
    expect(rows['aros.structured_output_default']?.[0]).toBe('auto')
    expect(rows['aros.repair.max_attempts']).toEqual(['1', `${path}:3`])
    expect(rows['aros.max_unescape_depth']).toEqual(['5', '$PROVISO_AROS_MAX_UNESCAPE_DEPTH'])
    expect(rows['aros.schema_simplify']).toEqual(['true', '--set'])
    const json = JSON.parse((await runCommand(['config', '--json', '--config', path])).stdout)
    expect(json).toMatchObject({ file: path })
  })

  it('2: a wrong setting is shown with its line', async () => {
    const done = await runCommand(['config', '--config', file('bad.toml', '[aros]\nenabled = 7\n')])
    expect(done.code).toBe(2)
    expect(done.stderr).toContain('bad.toml:2:1')
    expect(done.stderr).toContain('enabled = 7')
  })

  it('decides how a pipeline is read', async () => {
    const toml = file('off.toml', '[aros]\nauto_promote = false\n')
    const done = await proviso(
      ['run', file('off.yaml', titled), '--input', '{"topic":"tea"}', '--config', toml],
      { env: env() },
    )
    expect(done.code).toBe(0)
    expect(done.stderr).not.toContain('openai_json')
  })
})

it('proviso schema pipeline prints a JSON Schema', async () => {
  const done = await runCommand(['schema', 'pipeline'])
  expect(JSON.parse(done.stdout)).toMatchObject({ title: 'Proviso pipeline', required: ['steps'] })
})
