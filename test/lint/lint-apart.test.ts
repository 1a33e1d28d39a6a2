/** Lint and run time know nothing of each other but what a file means: how it is read, its nouns, and the settings (FSD-50). */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const pipelineFolder = join(root, 'src/pipeline')

/** Every file that is loaded with these, by what they import; types that vanish count, too. */
function loadedWith(files: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const open = files.map((file) => join(root, file))
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue
    found.add(file)
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/from '(\.{1,2}\/[^']+)'/g))
      open.push(resolve(dirname(file), path))
  }
  return new Set([...found].map((file) => relative(root, file)))
}

const inFolder = (folder: string) =>
  readdirSync(join(pipelineFolder, folder))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `src/pipeline/${folder}/${name}`)

const linter = [
  'lint/lint.ts',
  'lint/fix.ts',
  'lint/rule-table.ts',
  'lint/wrapper-step.ts',
  'report/report-issues.ts',
  'lint/suppress.ts',
]
  .map((name) => `src/pipeline/${name}`)
  .concat(inFolder('lint/rules'))
const compiler = [
  'src/pipeline/compile/compile-pipeline.ts',
  'src/pipeline/xml/compile/compile-template.ts',
  ...inFolder('compile'),
  ...inFolder('compile/steps'),
]

it('the linter runs nothing: neither compiler, prover, engine nor adapters come with it', () => {
  const loaded = [...loadedWith(linter)]
  expect(loaded).toContain('src/pipeline/yaml/read-yaml.ts')
  expect(
    loaded.filter((file) => /^src\/(plan|engine|adapters|server|app)\b|pipeline\/(compile|xml)\b/.test(file)),
  ).toEqual([])
})

it('a run does not lint: no rule, fixer or report comes with the compiler, the engine or the server', () => {
  const loaded = loadedWith([...compiler, 'src/engine/engine.ts', 'src/app.ts', 'src/server/index.ts'])
  expect(loaded).toContain('src/pipeline/parse/pipeline.ts')
  expect(linter.filter((file) => loaded.has(file))).toEqual([])
})

it('what they share of the module is how a file is read, its nouns and the settings', () => {
  const own = (file: string) => file.startsWith('src/pipeline/')
  const run = loadedWith(compiler)
  const shared = [...loadedWith(linter)].filter((file) => own(file) && run.has(file)).sort()
  expect(shared.map((file) => file.slice('src/pipeline/'.length))).toMatchInlineSnapshot(`
    [
      "config/aros-config.ts",
      "parse/builtins.ts",
      "parse/pipeline.ts",
      "parse/reading.ts",
      "templates/filters.ts",
      "templates/templates.ts",
      "text/issue-table.ts",
      "text/source.ts",
      "yaml/snake-keys.ts",
    ]
  `)
})
