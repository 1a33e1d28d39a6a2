/** Promises of `proviso validate`, tested on the built file. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { proviso, requireBuild, runCommand } from '../support.ts'

const bad = `version: "0.1"
agents:
  writer: # writes
    model: openai/gpt-4o-mini
    system_prompt: Write.
    output_schema: { type: object, properties: { title: { type: string } } }
steps:
  - name: write # first

    agent: writer
`
const broken = bad.replace('agent: writer', 'agent: wirter')

let folder = ''
beforeEach(() => {
  requireBuild()
  folder = mkdtempSync(join(tmpdir(), 'proviso-validate-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const path = (name: string) => join(folder, name)
const write = (name: string, content: string | Uint8Array) => writeFileSync(path(name), content)
const read = (name: string) => readFileSync(path(name), 'utf8')
const validate = (args: readonly string[], options: { stdin?: string; env?: Record<string, string> } = {}) =>
  (options.env ? proviso : runCommand)(['validate', ...args], { cwd: folder, ...options })

it('validate says what is wrong with its line, and warnings fail only when asked to', async () => {
  write('p.yaml', bad)
  const found = await validate(['p.yaml'])
  expect(found.code).toBe(0)
  expect(found.stdout).toContain('p.yaml:10:5: warning V-A8')
  expect(found.stdout).toContain('  10 |     agent: writer\n     |     ^^^^^')
  expect(found.stderr).toContain('p.yaml: 1 warning')
  expect((await validate(['p.yaml', '--fail-on-warn'])).code).toBe(4)
})

it('validate ends with 4 for errors, 2 for what cannot be read, 5 for imports that fail', async () => {
  write('errors.yaml', broken)
  const errors = await validate(['errors.yaml'])
  expect([errors.code, errors.stdout]).toEqual([4, expect.stringContaining('Did you mean writer?')])
  write('unread.yaml', 'steps: [')
  expect((await validate(['unread.yaml'])).code).toBe(2)
  expect((await validate(['nowhere.yaml'])).code).toBe(2)
  expect((await validate([])).code).toBe(2)
  expect((await validate(['p.yaml', '--format', 'xml'])).code).toBe(2)
  write('imports.yaml', `${bad}imports: { other: other.yaml }\n`)
  const imports = await validate(['imports.yaml'])
  expect([imports.code, imports.stdout]).toEqual([5, expect.stringContaining('other.yaml')])
})

it('validate refuses files that are meant to hurt, clearly and at once', async () => {
  const lol = Array.from(
    { length: 12 },
    (_, i) => `a${i}: &a${i} [${`*a${i - 1},`.repeat(i ? 9 : 0)}x]`,
  ).join('\n')
  const hostile: readonly [string | Uint8Array, string][] = [
    [new Uint8Array(50_000_000).fill(97), 'more than the 262144'],
    [lol, 'aliases expand this file to more than'],
    ['['.repeat(20_000), 'nested more than'],
    [new Uint8Array([0x61, 0x3a, 0x20, 0xff]), 'is not UTF-8'],
    ['a: !!js/function "x"', 'tag'],
    [`a: ${'x'.repeat(200_000)}`, 'characters'],
  ]
  for (const [content, message] of hostile) {
    write('hostile.yaml', content)
    const began = performance.now()
    const { code, stdout } = await validate(['hostile.yaml', '--fix', '--yes'])
    // Starting the process is in it; a busy machine may need longer than the second that is the goal.
    expect(performance.now() - began).toBeLessThan(10_000)
    expect([code, stdout]).toEqual([2, expect.stringContaining(message)])
    expect(existsSync(path('hostile.yaml.bak'))).toBe(false)
  }
})

it('validate explains rules', async () => {
  const page = await validate(['--explain', 'v-a8'])
  expect([page.code, page.stdout]).toEqual([0, expect.stringContaining('# V-A8: ')])
  const other = await validate(['--explain', 'v-i3'])
  expect([other.code, other.stdout]).toEqual([0, expect.stringContaining('`import/circle`')])
  const none = await validate(['--explain', 'V-XX'])
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('V-A8')])
})

it('validate checks imported pipelines, and says what they are given and have wrong', async () => {
  const input = 'input_schema: { type: object, required: [topic], properties: { topic: { type: string } } }\n'
  write('part.yaml', `${input}${bad}`)
  write('main.yaml', 'imports: { part: part.yaml }\nsteps: [{ name: s, uses: imports.part, input: tea }]\n')
  const found = await validate(['main.yaml', '--format', 'json'])
  const { warnings } = JSON.parse(found.stdout)
  expect(warnings).toMatchObject([
    { rule_id: 'V-I4', step_name: 's', line: 1, message: expect.stringContaining('V-A8') },
    { rule_id: 'V-I5', step_name: 's', line: 2 },
  ])
  const strict = await validate(['main.yaml', '--rules', 'strict'])
  expect(strict.code).toBe(4)
})

it('validate --fix shows a diff, asks, keeps one copy of the original, and looks again', async () => {
  write('p.yaml', bad)
  const unanswered = await validate(['p.yaml', '--fix'])
  expect([unanswered.code, read('p.yaml')]).toEqual([2, bad])
  const no = await validate(['p.yaml', '--fix'], { stdin: 'n\n' })
  expect([no.code, read('p.yaml'), existsSync(path('p.yaml.bak'))]).toEqual([0, bad, false])
  const yes = await validate(['p.yaml', '--fix', '--fail-on-warn'], { stdin: 'y\n' })
  expect(yes.code).toBe(0)
  expect(yes.stderr).toContain('+      structured_output: openai_json')
  expect(yes.stderr).toContain('Fixed 1 × V-A8; the original is p.yaml.bak')
  expect(yes.stderr).toContain('p.yaml: no issues')
  expect(read('p.yaml.bak')).toBe(bad)
  expect(read('p.yaml')).toContain('output_schema: { type: object')
  expect(read('p.yaml')).toContain('# first\n\n    agent: writer\n    processing:\n')
  const again = await validate(['p.yaml', '--fix', '--yes'])
  expect([again.code, read('p.yaml.bak')]).toEqual([0, bad])
})

it('validate --fix keeps modes and links, and fixes what several fixers fix with one copy of the original', async () => {
  const text = `${bad}  - name: next
    agent: writer
    input: "{{ previous_step.output | uper }}"
`
  writeFileSync(path('real.yaml'), text, { mode: 0o640 })
  symlinkSync(path('real.yaml'), path('p.yaml'))
  const { code, stdout } = await validate(['p.yaml', '--fix', '--yes', '--format', 'json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ is_valid: true, counts: { error: 0, warning: 0 } })
  const rules = JSON.parse(stdout).fixes.applied.map(({ rule }: { rule: string }) => rule)
  expect(rules).toEqual(['V-T1', 'V-T3', 'V-A8', 'V-A8'])
  expect(read('real.yaml.bak')).toBe(text)
  expect(read('real.yaml')).toContain('"{{ previous_step | upper }}"')
  expect(statSync(path('real.yaml')).mode & 0o777).toBe(0o640)
})

it('validate says where templates are checked', async () => {
  write('t.xml', '<task><description>Hi</description></task>')
  const { code, stderr } = await validate(['t.xml'])
  expect(code).toBe(2)
  expect(stderr).toContain('proviso prove t.xml')
})

it('validate --fix does not promise again what it could not fix', async () => {
  const text = `agents:
  plain: { model: m }
  judge: { model: m, output_schema: { type: object, properties: { good: true } }, processing: { structured_output: auto } }
steps:
  - { name: one, agent: plain, updates_context: &all true }
  - { name: two, agent: judge, updates_context: *all }
  - { name: three, agent: plain, input: "{{ context.good }}" }
`
  write('p.yaml', text)
  const tried = await validate(['p.yaml', '--fix', '--yes'])
  expect([tried.code, read('p.yaml')]).toEqual([4, text])
  expect(tried.stdout).toContain('--fix leaves it: the fix would change something else in the file')
  expect(tried.stdout).not.toContain('--fix does it')
  const json = JSON.parse((await validate(['p.yaml', '--fix', '--yes', '--format', 'json'])).stdout)
  expect(json.errors).toMatchObject([{ rule_id: 'V-C1', fixable: false }])
})

it('validate --fix-dry-run prints a patch and changes nothing', async () => {
  write('p.yaml', bad)
  const dry = await validate(['p.yaml', '--fix-dry-run'])
  expect(dry.code).toBe(0)
  expect(dry.stdout).toMatch(/^--- p\.yaml\.orig\n\+\+\+ p\.yaml\n@@ /)
  expect([read('p.yaml'), existsSync(path('p.yaml.bak'))]).toEqual([bad, false])
  const json = JSON.parse((await validate(['p.yaml', '--fix-dry-run', '--format', 'json'])).stdout)
  expect(json.fixes_dry_run.would_apply).toMatchObject([{ rule: 'V-A8', step: 'write' }])
  expect(json.fixes_dry_run.patch).toBe(dry.stdout)
})

it('validate --fix writes nothing for programs without --yes, nor rules that were not asked for', async () => {
  write('p.yaml', bad)
  const json = await validate(['p.yaml', '--fix', '--format', 'json'])
  expect(JSON.parse(json.stdout).fixes).toEqual({ applied: [], total_applied: 0 })
  await validate(['p.yaml', '--fix', '--yes', '--fix-rules', 'V-T*, V-C1'])
  await validate(['p.yaml', '--fix', '--yes'], { env: { PROVISO_FIX_RULES: 'V-C*' } })
  expect(read('p.yaml')).toBe(bad)
  const idle = await validate(['p.yaml', '--fix', '--yes', '--fix-rules', 'V-A8,V-A9'])
  expect([idle.code, read('p.yaml')]).toEqual([2, bad])
  expect(idle.stderr).toContain('no rule with a fix matches "V-A9"')
})

it('validate --baseline reports only what is new', async () => {
  write('p.yaml', bad)
  const made = await validate(['p.yaml', '--baseline', 'known.json', '--update-baseline', '--fail-on-warn'])
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('Wrote 1 known')])
  write('p.yaml', `${bad}  - name: again\n    agent: writer\n`)
  const next = await validate(['p.yaml', '--baseline', 'known.json', '--format', 'json', '--fail-on-warn'])
  expect(next.code).toBe(4)
  const report = JSON.parse(next.stdout)
  expect(report.warnings.map((issue: { step_name: string }) => issue.step_name)).toEqual(['again'])
  expect(report.baseline).toEqual({ path: 'known.json', known: 1, gone: 0 })
  write('none.json', '{}')
  expect((await validate(['p.yaml', '--baseline', 'none.json'])).code).toBe(2)
  expect((await validate(['p.yaml', '--update-baseline'])).code).toBe(2)
  const hindered = await validate(['p.yaml', '--baseline', 'no/folder.json', '--update-baseline'])
  expect([hindered.code, hindered.stderr]).toEqual([2, expect.stringContaining('the folder does not exist')])
})

it('validate --rules takes severities from a file or a profile, and [aros] counts', async () => {
  write('p.yaml', bad)
  write('rules.toml', '"V-A*" = "error"\n')
  expect((await validate(['p.yaml', '--rules', 'rules.toml'])).code).toBe(4)
  write('proviso.toml', '[validation.profiles.quiet]\n"*" = "off"\n')
  const quiet = await validate(['p.yaml', '--rules', 'quiet', '--fail-on-warn'])
  expect([quiet.code, quiet.stdout]).toEqual([0, ''])
  expect((await validate(['p.yaml', '--rules', 'loud'])).code).toBe(2)
  write('proviso.toml', 'preset = "safe"\n')
  expect((await validate(['p.yaml', '--fail-on-warn'])).code).toBe(0)
  const set = await validate(['p.yaml', '--fail-on-warn', '--set', 'structured_output_default=off'])
  expect([set.code, set.stdout]).toEqual([4, expect.stringContaining('structured output is off')])
  const other = await validate(['p.yaml'], { env: { PROVISO_CONFIG: path('nowhere.toml') } })
  expect(other.code).toBe(2)
})

it('validate --format sarif names rules, places and fixes', async () => {
  write('a b.yaml', bad)
  const { stdout } = await validate(['a b.yaml', '--format', 'sarif'])
  const [run] = JSON.parse(stdout).runs
  expect(run.results).toMatchObject([
    {
      ruleId: 'V-A8',
      level: 'warning',
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'a%20b.yaml' },
            region: { startLine: 10, startColumn: 5, endLine: 10, endColumn: 10 },
          },
        },
      ],
      fixes: [{ artifactChanges: [{ replacements: [{ insertedContent: {} }] }] }],
    },
  ])
  expect(run.tool.driver.rules[run.results[0].ruleIndex].id).toBe('V-A8')
})

it('validate takes several files, folders and globs, and reports them together', async () => {
  const sub = join(folder, 'many')
  mkdirSync(join(sub, 'deep'), { recursive: true })
  const good = 'name: good\nsteps:\n  - { name: a, uses: wrap_dict }\n'
  writeFileSync(join(sub, 'good.yaml'), good)
  writeFileSync(join(sub, 'deep', 'bad.yml'), good.replace('wrap_dict', 'wrap_dct'))
  writeFileSync(join(sub, 'compose.yaml'), 'services: {}\n')
  const all = await validate(['many', '--format', 'json'])
  expect(all.code).toBe(4)
  const report = JSON.parse(all.stdout)
  expect(report).toMatchObject({ is_valid: false, counts: { error: 1 } })
  expect(report.files.map(({ path }: { path: string }) => path)).toEqual([
    join('many', 'deep', 'bad.yml'),
    join('many', 'good.yaml'),
  ])
  expect(all.stderr).toContain(`1 YAML file without steps skipped: ${join('many', 'compose.yaml')}`)
  const globbed = await validate(['many/**/*.yml'])
  expect(globbed.code).toBe(4)
  expect(globbed.stderr).toContain('many/deep/bad.yml: 1 error')
  const two = await validate([join('many', 'good.yaml'), join('many', 'good.yaml')])
  expect(two.code).toBe(0)
  expect((await validate(['many/*.nothing'])).stderr).toContain('no file matches it')
  expect((await validate(['many', '--baseline', 'known.json'])).code).toBe(2)
  const sarif = JSON.parse((await validate(['many', '--format', 'sarif'])).stdout)
  expect(sarif.runs[0].results).toHaveLength(1)
})
