/** What the linter knows of the pipelines that a file imports: themselves, and what it finds in them. */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type LintOptions, lint } from './lint.ts'
import type { SeenImport, SeenImports } from './lint-view.ts'
import type { Pipeline } from './pipeline.ts'
import { readYaml } from './read-yaml.ts'

/** `pipeline` has been loaded from `file` with all its imports: paths have been checked and circles found. */
export async function seeImports(
  pipeline: Pipeline,
  file: string,
  options: LintOptions = {},
): Promise<SeenImports> {
  return see(pipeline, file, { options, known: new Map() })
}

interface Seeing {
  readonly options: LintOptions
  /** A file that is imported in several places is looked at once. */
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
  // It was read a moment ago; whoever has changed it since gets told when it is loaded.
  if (!read.ok) return { pipeline, issues: [] }
  const imports = await see(pipeline, file, seeing)
  return { pipeline, issues: lint(read.document, { ...seeing.options, imports }).issues }
}
