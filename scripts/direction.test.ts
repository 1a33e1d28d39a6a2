/** The direction check has a test of its own: every rule is seen to fail on a small tree, and a good tree passes. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { checkDirection, type Rules } from './direction-check.mjs'
import { rules as ours } from './direction-rules.mjs'
import { root } from './setup.mjs'

const rules: Rules = {
  modules: {
    base: [],
    schema: ['base'],
    output: ['schema', 'base'],
    app: ['base'],
    cli: ['app', 'output', 'base'],
  },
  entryFiles: { output: ['index.ts'], app: [] },
  dependencies: { ajv: ['schema'], '@scope/pkg': ['base'] },
  browserSafe: ['base', 'schema', 'output'],
  nodeOnly: /^output\/off-thread[^/]*\.ts$/,
  examples: ['zod'],
}

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** Writes the files of a tree (below src unless they say `examples/`) and returns what the check says of it. */
function check(tree: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-direction-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(tree)) {
    const path = join(folder, name.startsWith('examples/') ? name : `src/${name}`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return checkDirection(folder, rules).violations.map(
    ({ rule, file, line, message }) => `${file}:${line} ${rule} ${message}`,
  )
}

const empty = 'export {}\n'

describe('a tree that obeys', () => {
  it('passes, with imports that go down, entry points, dependencies in their module and Node where it is allowed', () => {
    expect(
      check({
        'base/json.ts': `import type { X } from '@scope/pkg/deep.js'\nexport type Y = X\n`,
        'schema/compile.ts': `import Ajv from 'ajv/dist/2020.js'\nimport type { Y } from '../base/json.ts'\n`,
        'output/index.ts': `export { a } from './a.ts'\n`,
        'output/a.ts': `import '../schema/compile.ts'\nimport './deep/b.ts'\n`,
        'output/deep/b.ts': `import type { T } from '../types.ts'\n`,
        'output/types.ts': empty,
        'output/off-thread-worker.ts': `import 'node:worker_threads'\n`,
        'output/a.test.ts': `import 'vitest'\nimport '../cli/main.ts'\n`,
        'cli/main.ts': `import 'node:fs'\nimport '../output/index.ts'\n`,
        'examples/one.ts': `import 'proviso/output'\nimport 'zod'\nimport 'node:fs'\n`,
      }),
    ).toEqual([])
  })
})

describe('modules', () => {
  it('refuses an import that goes up', () => {
    expect(check({ 'base/a.ts': `\nimport '../schema/b.ts'\n`, 'schema/b.ts': empty })).toEqual([
      'src/base/a.ts:2 module "base" may not import "schema"; below it are: nothing',
    ])
  })

  it.each([
    ['a type import', `import type { T } from '../output/index.ts'`],
    ['a re-export', `export { t } from '../output/index.ts'`],
    ['a type re-export', `export type { T } from '../output/index.ts'`],
    ['export *', `export * from '../output/index.ts'`],
    ['import()', `const t = await import('../output/index.ts')`],
    ['import() with a plain template', 'const t = await import(`../output/index.ts`)'],
    ['a type written as import()', `let t: import('../output/index.ts').T`],
    ['import = require()', `import t = require('../output/index.ts')`],
    ['require()', `const t = require('../output/index.ts')`],
  ])('sees %s', (_, text) => {
    expect(check({ 'schema/a.ts': text, 'output/index.ts': empty })).toEqual([
      'src/schema/a.ts:1 module "schema" may not import "output"; below it are: base',
    ])
  })

  it('does not mistake comments and strings for imports', () => {
    const text = `// import '../schema/b.ts'\nconst s = "import '../schema/b.ts'"\n`
    expect(check({ 'base/a.ts': text, 'schema/b.ts': empty })).toEqual([])
  })

  it('refuses a module that the table does not know', () => {
    expect(check({ 'utils/a.ts': empty })).toEqual([
      'src/utils/a.ts:1 unknown-module "utils" is no module of scripts/direction-rules.mjs',
    ])
  })

  it('refuses a file that is not there, a test, and anything outside src', () => {
    expect(
      check({
        'base/a.ts': `import './b.js'\nimport './c.test.ts'\nimport '../../package.json'\n`,
        'base/c.test.ts': empty,
      }),
    ).toEqual([
      'src/base/a.ts:1 missing "./b.js" is not a file; imports carry their full name with .ts',
      'src/base/a.ts:2 test "./c.test.ts" is a test; source may not need it',
      'src/base/a.ts:3 outside "../../package.json" leaves src',
    ])
  })
})

describe('entry files', () => {
  it('refuses the inside of a module from another module', () => {
    expect(check({ 'cli/main.ts': `import '../output/lexer.ts'\n`, 'output/lexer.ts': empty })).toEqual([
      'src/cli/main.ts:1 entry-file "output/lexer.ts" is inside "output"; come in through index.ts',
    ])
  })

  it('takes the file beside a folder for the entry point of both', () => {
    const tree = { 'app.ts': `import './app/part.ts'\n`, 'app/part.ts': empty }
    expect(check({ ...tree, 'cli/main.ts': `import '../app.ts'\n` })).toEqual([])
    expect(check({ ...tree, 'cli/main.ts': `import '../app/part.ts'\n` })).toEqual([
      'src/cli/main.ts:1 entry-file "app/part.ts" is inside "app"; come in through app.ts',
    ])
  })

  it('refuses the package name inside the package', () => {
    expect(check({ 'cli/main.ts': `import 'proviso/output'\n` })).toEqual([
      'src/cli/main.ts:1 self import "proviso/output" by its path; the package name is for users',
    ])
  })
})

describe('dependencies', () => {
  it('refuses a dependency outside its module, also as a type and also by a deep path', () => {
    expect(check({ 'output/a.ts': `import type { Ajv } from 'ajv/dist/2020.js'\n` })).toEqual([
      'src/output/a.ts:1 dependency "ajv" belongs to the module "schema"; use it through that module',
    ])
  })

  it('refuses a dependency without a module, and a Node module written without node:', () => {
    expect(check({ 'base/a.ts': `import 'lodash'\nimport 'fs'\n` })).toEqual([
      'src/base/a.ts:1 dependency "lodash" has no module: give it a row in scripts/direction-rules.mjs and docs/decisions/dependencies.md',
      'src/base/a.ts:2 dependency "fs" has no module: give it a row in scripts/direction-rules.mjs and docs/decisions/dependencies.md',
    ])
  })

  it('refuses node: in modules that must run in a browser', () => {
    expect(check({ 'output/a.ts': `import { readFileSync } from 'node:fs'\n` })).toEqual([
      'src/output/a.ts:1 node "output" must run in a browser and may not import "node:fs"',
    ])
  })
})

describe('files for Node alone', () => {
  it('may not be imported by what must run in a browser', () => {
    const tree = {
      'output/index.ts': `import './off-thread.ts'\n`,
      'output/off-thread.ts': `import './off-thread-worker.ts'\n`,
      'output/off-thread-worker.ts': empty,
    }
    expect(check(tree)).toEqual([
      'src/output/index.ts:1 node "./off-thread.ts" is for Node alone; "output" must run in a browser',
    ])
  })
})

describe('cycles', () => {
  it('refuses two files that need each other, if only for types', () => {
    const tree = {
      'base/a.ts': `import type { B } from './b.ts'\n`,
      'base/b.ts': `import type { A } from './a.ts'\n`,
    }
    expect(check(tree)).toEqual([
      'src/base/a.ts:1 cycle a ring inside src/base: base/a.ts:1 → base/b.ts, base/b.ts:1 → base/a.ts',
    ])
  })

  it('refuses a file that imports itself', () => {
    expect(check({ 'base/a.ts': `import './a.ts'\n` })).toEqual([
      'src/base/a.ts:1 cycle a ring inside src/base: base/a.ts:1 → base/a.ts',
    ])
  })

  it('refuses two folders that need each other although no file is in a ring', () => {
    expect(
      check({
        'output/read/a.ts': `import '../decode/b.ts'\n`,
        'output/read/c.ts': empty,
        'output/decode/b.ts': empty,
        'output/decode/d.ts': `import '../read/c.ts'\n`,
      }),
    ).toEqual([
      'src/output/decode/d.ts:1 cycle a ring inside src/output: output/decode/d.ts:1 → output/read/c.ts, output/read/a.ts:1 → output/decode/b.ts',
    ])
  })

  it('refuses a folder and a file beside it that need each other', () => {
    const tree = {
      'output/a.ts': `import './deep/b.ts'\n`,
      'output/deep/b.ts': empty,
      'output/deep/c.ts': `import '../a.ts'\n`,
    }
    expect(check(tree)).toHaveLength(1)
  })

  it('finds a ring of three modules next to the rule that each import breaks', () => {
    const tree = {
      'base/a.ts': `import '../output/index.ts'\n`,
      'schema/b.ts': `import '../base/a.ts'\n`,
      'output/index.ts': `import '../schema/b.ts'\n`,
    }
    expect(check(tree).map((line) => line.split(' ')[1])).toEqual(['module', 'cycle'])
  })
})

describe('examples', () => {
  it('refuses an import that a user could not write', () => {
    expect(check({ 'examples/one.ts': `import '../src/output/index.ts'\nimport 'ajv'\n` })).toEqual([
      'examples/one.ts:1 example examples import what users import, not "../src/output/index.ts"',
      'examples/one.ts:2 example examples import what users import, not "ajv"',
    ])
  })
})

describe('the sources of the package', () => {
  it('obeys', () => {
    expect(checkDirection(root, ours).violations).toEqual([])
  })

  it('has an acyclic table of modules, each naming only modules that exist', () => {
    const seen = new Set<string>()
    let left = Object.entries(ours.modules)
    while (left.length > 0) {
      const ready = left.filter(([, below]) => below.every((module) => seen.has(module)))
      expect(ready, `stuck at ${left.map(([module]) => module).join(', ')}`).not.toEqual([])
      for (const [module] of ready) seen.add(module)
      left = left.filter(([module]) => !seen.has(module))
    }
  })

  it('has a module and a reason for every dependency, and no row for one that is gone', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const typesOnly = ['@ai-sdk/provider']
    expect(Object.keys(manifest.devDependencies)).toEqual(expect.arrayContaining(typesOnly))
    const dependencies = {
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
      ...manifest.peerDependencies,
    }
    expect(Object.keys(ours.dependencies).sort()).toEqual([...Object.keys(dependencies), ...typesOnly].sort())
    const record = readFileSync(join(root, 'docs/decisions/dependencies.md'), 'utf8')
    for (const [name, modules] of Object.entries(ours.dependencies)) {
      expect(record).toMatch(new RegExp(`^\\| ${name} [^|]*\\| ${modules.join(', ')} \\|`, 'm'))
    }
  })

  it('leaves nothing that users install to overrides, which count in this repository alone', () => {
    const { overrides, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(Object.keys(devDependencies)).toEqual(expect.arrayContaining(Object.keys(overrides)))
  })
})
