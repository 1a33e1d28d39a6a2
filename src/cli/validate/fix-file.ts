/** `validate --fix`: prints the diff, asks for confirmation, writes a backup beside the file, and replaces the file. */
import { readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { confirm } from '../confirm.ts'
import { colors, printNote } from '../print.ts'
import type { Unreadable } from '../read-input.ts'

interface FileChange {
  readonly file: string
  /** Content of the file when it was read. */
  readonly before: string
  readonly after: string
  readonly diff: string
  readonly yes: boolean
}

type Written = { readonly written: boolean } | { readonly unreadable: Unreadable }

/** Writes only after confirmation. */
export async function fixFile({ file, before, after, diff, yes }: FileChange): Promise<Written> {
  printNote(paint(diff))
  if (!yes) {
    const answer = await confirm('Write this?')
    if (answer === undefined) return { unreadable: unanswered }
    if (!answer) return { written: false }
  }
  try {
    // Rejects the write if the file has changed since it was read, for example during the confirmation.
    if (readFileSync(file, 'utf8') !== before) return { unreadable: changed(file) }
    write(realpathSync(file), before, after)
    return { written: true }
  } catch (error) {
    return { unreadable: cannotWrite(file, error) }
  }
}

/** Replaces the file atomically by a rename, so that no process reads a partial file. */
function write(path: string, before: string, after: string): void {
  const { mode } = statSync(path)
  writeFileSync(`${path}.bak`, before, { mode })
  writeFileSync(`${path}.new`, after, { mode })
  renameSync(`${path}.new`, path)
}

/** Explains why a file cannot be written. */
export function cannotWrite(file: string, error: unknown): Unreadable {
  const { code, message } = error as NodeJS.ErrnoException
  const reasons: Record<string, string> = {
    EACCES: 'permission denied',
    EROFS: 'the disk is read-only',
    ENOENT: 'the folder does not exist',
    EISDIR: 'it is a folder',
    ENOSPC: 'the disk is full',
  }
  return {
    message: `Cannot write ${file}: ${reasons[code ?? ''] ?? message}`,
    hint: 'Check the folder and its permissions; the file is unchanged',
  }
}

const unanswered: Unreadable = {
  message: 'Cannot write the changes: no answer on stdin',
  hint: 'Pass --yes, or preview with --fix-dry-run',
}

function changed(file: string): Unreadable {
  return { message: `Cannot write ${file}: it changed after it was read`, hint: 'Run the command again' }
}

function paint(diff: string): string {
  return diff
    .split('\n')
    .map((line) =>
      line.startsWith('+') ? colors.green(line) : line.startsWith('-') ? colors.red(line) : line,
    )
    .join('\n')
}
