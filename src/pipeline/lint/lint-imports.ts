/** Collects the imports of a pipeline for the linter: the imported pipelines and their issues. */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Pipeline } from '../parse/pipeline.ts'
import { readYaml } from '../yaml/read-yaml.ts'
import { type LintOptions, lint } from './lint.ts'
import type { SeenImport, SeenImports } from './view/lint-view.ts'

/** `pipeline` was loaded from `file` with all its imports: paths are checked and import cycles ruled out. */
export async function seeImports(
  pipeline: Pipeline,
  file: string,
  options: LintOptions = {},
): Promise<SeenImports> {
  return see(pipeline, file, { options, known: new Map() })
}

interface Seeing {
  readonly options: LintOptions
  /** Memoises by path: a file that is imported several times is linted once. */
  readonly known: Map<string, Promise<SeenImport>>
}

async function see({ imports }: Pipeline, file: string, seeing: Seeing): Promise<SeenImports> {
  const seen = new Map<string, SeenImport>()
  for (const [name, { path, pipeline }] of imports) {
    if (pipeline === undefined) continue
    const where = resolve(dirname(file), path)
    const looked = seeing.known.get(where) ?? look(pipeline, where, seeing)
    seeing.known.set(where, looked)
    seen.set(name, await looked)
  }
  return seen
}

async function look(pipeline: Pipeline, file: string, seeing: Seeing): Promise<SeenImport> {
  const read = readYaml(await readFile(file), file)
  // The file was readable when it was loaded; if it has changed since, the next load reports it.
  if (!read.ok) return { pipeline, issues: [] }
  const imports = await see(pipeline, file, seeing)
  return { pipeline, issues: lint(read.document, { ...seeing.options, imports }).issues }
}
