/** Builds the command of an earlier version from the history of the repository, for tests of versions in turn. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from '../../scripts/compile.mjs'
import { root } from '../support.ts'

/** The last commit whose store has the migrations up to 0007, as `fixtures/version-0007.db.gz`. */
const commit = '4f6b063600ffc10fb886ab981bf68f89c82d5e6f'

export function hasPreviousVersion(): boolean {
  return process.env['PROVISO_PREVIOUS'] !== undefined || hasCommit(commit)
}

/** Whether the history reaches back to a commit. A shallow clone does not, and says so loudly. */
export function hasCommit(commit: string): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root, stdio: 'ignore' })
    return true
  } catch {
    console.warn(
      `The test of two versions in turn is left out: commit ${commit} is missing. Clone the whole history`,
    )
    return false
  }
}

/** Returns the path of `cli/main.js` of that version; `PROVISO_PREVIOUS` names another one that is built already. */
export async function buildPreviousVersion(from = commit): Promise<{
  readonly main: string
  readonly dispose: () => void
}> {
  const given = from === commit ? process.env['PROVISO_PREVIOUS'] : undefined
  if (given !== undefined) return { main: given, dispose: () => {} }
  // Inside the repository, so that packages resolve from there.
  const folder = mkdtempSync(join(root, 'node_modules', '.proviso-previous-'))
  try {
    const packed = execFileSync('git', ['archive', from, 'src', 'package.json', 'tsconfig.json'], {
      cwd: root,
      maxBuffer: 2 ** 28,
    })
    execFileSync('tar', ['-x', '-C', folder], { input: packed })
    const { programs, dispose } = await compile({ cli: 'src/cli/main.ts' }, folder)
    return { main: programs.cli, dispose }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
