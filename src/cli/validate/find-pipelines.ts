/** Finds the pipelines that files, folders and globs on the command line name. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { glob, isDynamicPattern } from 'tinyglobby'
import type { Or } from './check-pipeline.ts'

interface FoundPipelines {
  readonly files: readonly string[]
  /** YAML files of folders that are not pipelines. */
  readonly skipped: readonly string[]
}

/** A file is taken as it is, of a folder every pipeline below it; a glob is for shells that do not expand it. */
export async function findPipelines(given: readonly string[]): Promise<Or<FoundPipelines>> {
  const files = new Set<string>()
  const skipped: string[] = []
  for (const path of given) {
    const kind = statSync(path, { throwIfNoEntry: false })
    if (kind?.isDirectory()) {
      for (const file of await findIn(path)) {
        if (isPipeline(file)) files.add(file)
        else skipped.push(file)
      }
    } else if (kind === undefined && isDynamicPattern(path)) {
      const found = (await glob(path, { onlyFiles: true })).sort()
      if (found.length === 0) return { unreadable: none(path, 'no file matches it') }
      for (const file of found) files.add(file)
    } else files.add(path)
  }
  const [folder] = given
  if (files.size === 0 && folder !== undefined)
    return { unreadable: none(folder, 'the folder contains no pipeline') }
  return { files: [...files], skipped }
}

async function findIn(folder: string): Promise<string[]> {
  const found = await glob('**/*.{yaml,yml}', { cwd: folder, ignore: ['**/node_modules/**'] })
  return found.sort().map((file) => join(folder, file))
}

/** Other tools use YAML too; a pipeline has steps. Files that cannot be read are reported by the check. */
function isPipeline(file: string): boolean {
  try {
    return /^(?:steps|["']steps["'])\s*:/m.test(readFileSync(file, 'utf8'))
  } catch {
    return true
  }
}

function none(path: string, reason: string) {
  return {
    message: `Cannot validate ${path}: ${reason}`,
    hint: 'Pass pipelines (.yaml), folders that contain some, or globs such as "pipelines/**/*.yaml"',
  }
}
