import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { describeSourceIssue } from '../text/source.ts'
import { arosTable } from './aros-config.ts'
import { readConfig } from './read-config.ts'
import { resolveConfig } from './resolve-config.ts'
import { serverKeys } from './server-settings.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-config-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const write = (text: string, name = 'proviso.toml') => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const resolved = async (request: Partial<Parameters<typeof resolveConfig>[0]> = {}) => {
  const result = await resolveConfig({ cwd: folder, ...request })
  if (!result.ok) throw new Error(result.issues.map(describeSourceIssue).join('\n'))
  return result.config
}

const refused = (text: string) => {
  const read = readConfig(text)
  if (read.ok) throw new Error('it was read')
  return read.issues
}

describe('what holds', () => {
  it('is off without a file, with every other default of the specification', async () => {
    const { aros } = await resolved({ cwd: folder })
    expect(aros).toMatchObject({
      enabled: true,
      structuredOutputDefault: 'off',
      enableAopDefault: 'off',
      coercionTolerantLevel: 0,
      maxUnescapeDepth: 2,
      anyofStrategy: 'first-pass',
      enableReasoningPrecheck: false,
      correctionLedgerEnabled: false,
      degradeOnUnexpectedBehavior: true,
      schemaSimplify: false,
      repair: { maxAttempts: 2, enableLlm: true },
      fallback: { maxStages: 3, enableExtractor: true, degradeToString: true },
      streaming: { aggregateStructured: true },
      telemetry: { verbose: false },
    })
  })

  it.each(['preset = "safe"\n', '[aros]\npreset = "safe"\n'])(
    'one line switches on auto and minimal: %j',
    async (text) => {
      write(text)
      expect((await resolved()).aros).toMatchObject({
        structuredOutputDefault: 'auto',
        enableAopDefault: 'minimal',
      })
    },
  )

  it('what a file says itself goes over its preset', async () => {
    write('preset = "safe"\n[aros]\nenable_aop_default = "full"\n')
    expect((await resolved()).aros).toMatchObject({
      structuredOutputDefault: 'auto',
      enableAopDefault: 'full',
    })
  })

  it('accepts the table of the specification unchanged', async () => {
    write(`[aros]
enabled = true                      # master switch; defaults to true but does nothing unless per-step opts are set
structured_output_default = "auto"  # off | auto | openai_json
enable_aop_default = "minimal"      # off | minimal | full
coercion_tolerant_level = 0          # 0=off, 1=json5, 2=json-repair (logs patch previews)
max_unescape_depth = 2               # depth limit for Stage 0b
anyof_strategy = "first-pass"        # branch selection strategy
enable_reasoning_precheck = false
`)
    expect((await resolved()).aros).toMatchObject({
      structuredOutputDefault: 'auto',
      enableAopDefault: 'minimal',
    })
  })

  it('is found upward, and flags go over the environment, which goes over the file', async () => {
    const path = write(
      '[aros]\nmax_unescape_depth = 3\n[aros.repair]\nmax_attempts = 1\nenable_llm = false\n',
    )
    const deep = join(folder, 'a', 'b')
    mkdirSync(deep, { recursive: true })
    const env = { PROVISO_AROS_REPAIR_MAX_ATTEMPTS: '4', PROVISO_AROS_SCHEMA_SIMPLIFY: 'true' }
    const { settings, aros } = await resolved({ cwd: deep, env, set: ['aros.repair.max_attempts=0'] })
    expect(aros).toMatchObject({
      maxUnescapeDepth: 3,
      schemaSimplify: true,
      repair: { maxAttempts: 0, enableLlm: false },
    })
    const from = Object.fromEntries(settings.map((setting) => [setting.key, setting.from]))
    expect(from).toMatchObject({
      'aros.max_unescape_depth': `${path}:2`,
      'aros.repair.max_attempts': '--set',
      'aros.repair.enable_llm': `${path}:5`,
      'aros.schema_simplify': '$PROVISO_AROS_SCHEMA_SIMPLIFY',
      'aros.enabled': 'default',
    })
    // Three more: the preset, and two keys that only the file can set.
    expect(settings).toHaveLength(Object.keys(arosTable).length + serverKeys.length + 3)
  })

  it('PROVISO_CONFIG names another file, and a flag one before that', async () => {
    write('preset = "safe"')
    const other = write('[aros]\nenabled = false', 'other.toml')
    expect((await resolved({ env: { PROVISO_CONFIG: other } })).aros.enabled).toBe(false)
    expect((await resolved({ env: { PROVISO_CONFIG: other }, file: 'proviso.toml' })).aros.enabled).toBe(true)
  })
})

describe('what is wrong is shown with its line', () => {
  it('a key that is not known', () => {
    const [issue] = refused('[aros]\nenabled = true\nstructred_output_default = "auto"\n')
    expect(issue && describeSourceIssue(issue)).toMatchInlineSnapshot(`
      "proviso.toml:3:1: aros.structred_output_default: the property "structred_output_default" is not allowed
        3 | structred_output_default = "auto"
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        Did you mean "structured_output_default"?"
    `)
  })

  it('a value that is not allowed, also in a table of its own', () => {
    expect(refused('[aros]\ncoercion_tolerant_level = 3')[0]).toMatchObject({ line: 2, column: 1 })
    expect(refused('[aros]\n\n[aros.fallback]\nmax_stages = "x"')[0]).toMatchObject({ line: 4 })
    expect(refused('preset = "wild"')[0]).toMatchObject({ line: 1 })
  })

  it('a text that is no TOML', () => {
    expect(refused('[aros]\nenabled = maybe')[0]).toMatchObject({ code: 'config/toml', line: 2 })
  })

  it('a limit or a label that is not one, with what is expected', () => {
    const message = (toml: string) => refused(toml)[0]?.message
    expect(message('[limits]\ncapabilities = ["render=0"]')).toContain(
      'must be NAME=COUNT (at once) or NAME=COUNT/TIME (starts in 10s, 1m or 1h), with a count above zero',
    )
    expect(message('[placement]\nlabels = ["region"]')).toContain('must be NAME=VALUE')
  })

  it('two values of one label', async () => {
    await expect(
      resolveConfig({ cwd: folder, env: { PROVISO_LABELS: 'region=eu,region=us' } }),
    ).rejects.toThrow('placement.labels has several values for "region"')
  })

  it('a variable that is no setting, with the one that was probably meant', async () => {
    const env = { PROVISO_AROS_REPAIR_MAX_ATEMPTS: '1', PROVISO_AROS_OLD: '', PROVISO_PRESET: 'safe' }
    const result = await resolveConfig({ cwd: folder, env })
    expect(result.ok ? [] : result.issues.map(({ file, hint }) => [file, hint])).toEqual([
      ['$PROVISO_AROS_REPAIR_MAX_ATEMPTS', 'Did you mean PROVISO_AROS_REPAIR_MAX_ATTEMPTS?'],
    ])
  })

  it('a variable or a flag with a wrong value, by its name', async () => {
    const result = await resolveConfig({
      cwd: folder,
      env: { PROVISO_AROS_ENABLED: 'perhaps' },
      set: ['aros.enabeld=true'],
    })
    expect(result.ok ? [] : result.issues.map(({ file, hint }) => [file, hint])).toMatchObject([
      ['$PROVISO_AROS_ENABLED', undefined],
      ['--set aros.enabeld=true', 'Did you mean enabled?'],
    ])
  })
})

it('what only the file says is explained as well, with its line', async () => {
  const path = write('[catalog]\nuse = ["./mine.js"]\n\n[validation]\nprofile = "strict"\n')
  const { settings } = await resolved()
  const last = settings.slice(-2).map(({ key, value, from }) => ({ key, value, from }))
  expect(last).toEqual([
    { key: 'catalog.use', value: ['./mine.js'], from: `${path}:2` },
    { key: 'validation.profile', value: 'strict', from: `${path}:5` },
  ])
})
