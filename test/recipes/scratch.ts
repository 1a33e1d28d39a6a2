/** A scratch copy of the sources, to which recipes are applied: type check and build show whether they work. */
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'tsdown'
import { root } from '../support.ts'

export interface Recipe {
  /** Its heading in CONTRIBUTING.md. */
  readonly title: string
  /** Does what the recipe says. */
  apply(scratch: Scratch): void
  /** Sources that `check` imports or runs. */
  readonly entries: readonly string[]
  /** Expects that the new thing works. */
  check(built: Built): Promise<void>
}

/** The copy while recipes are applied. Paths are as in the repository. */
export interface Scratch {
  create(path: string, text: string): void
  /** Inserts text behind the only occurrence of another text. */
  insertAfter(path: string, anchor: string, text: string): void
}

/** The copy with all recipes, built. */
export interface Built {
  import<T>(source: string): Promise<T>
  /** Runs a source as a program and returns what it prints. */
  run(source: string, ...args: readonly string[]): Promise<string>
}

export function createCopy() {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-recipes-'))
  cpSync(join(root, 'src'), join(folder, 'src'), {
    recursive: true,
    filter: (path) => !path.endsWith('.test.ts'),
  })
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const config = { extends: join(root, 'tsconfig.json'), include: [join(folder, 'src')] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const built = (source: string) => join(folder, 'dist', source.replace(/^src\/(.+)\.ts$/, '$1.mjs'))
  return {
    /** Applies a recipe and returns the files that it creates or changes. */
    apply(recipe: Recipe): readonly string[] {
      const touched = new Set<string>()
      recipe.apply({
        create(path, text) {
          if (existsSync(join(folder, path))) throw new Error(`Cannot create ${path}: it exists`)
          touched.add(path)
          mkdirSync(dirname(join(folder, path)), { recursive: true })
          writeFileSync(join(folder, path), text)
        },
        insertAfter(path, anchor, text) {
          const [before, after, ...more] = readFileSync(join(folder, path), 'utf8').split(anchor)
          if (after === undefined || more.length > 0)
            throw new Error(`Cannot change ${path}: it must contain "${anchor}" once`)
          touched.add(path)
          writeFileSync(join(folder, path), `${before}${anchor}${text}${after}`)
        },
      })
      return [...touched]
    },
    /** The errors of the type check. */
    checkTypes: () =>
      runFile([join(root, 'node_modules/typescript-7/bin/tsc'), '--noEmit', '-p', folder], folder),
    async build(sources: readonly string[]): Promise<Built> {
      await build({
        config: false,
        cwd: folder,
        entry: Object.fromEntries(sources.map((source) => [source.replace(/^src\/(.+)\.ts$/, '$1'), source])),
        format: 'esm',
        platform: 'node',
        target: 'node20',
        dts: false,
        logLevel: 'silent',
        outExtensions: () => ({ js: '.mjs' }),
        deps: { neverBundle: [/^[^./]/] },
      })
      return {
        import: (source) => import(pathToFileURL(built(source)).href),
        run: (source, ...args) => runFile([built(source), ...args], folder),
      }
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** What a program prints, whichever exit code it has. */
function runFile(args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd }, (_, stdout, stderr) => resolve(`${stdout}${stderr}`))
  })
}
