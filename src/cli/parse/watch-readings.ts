/** `proviso parse --watch`: parses again whenever the text file or the schema file changes, until Ctrl-C. */
import { exitCode } from '../exit-codes.ts'
import { onInterrupt } from '../interrupt.ts'
import { printNote, refuse } from '../print.ts'
import type { Unreadable } from '../read-input.ts'
import { type Reading, type ReadingRequest, readAnswer } from './reading.ts'
import { type ReportFlags, reportReading } from './report-reading.ts'
import { type FileWatch, watchFiles } from './watch-files.ts'

/** How long a file may be missing while an editor replaces it. */
const graceMs = 400

/** Returns why a request cannot be watched; `undefined` if it can. */
export function cannotWatch({ file, schemaFile, onPush }: ReadingRequest): Unreadable | undefined {
  if (file === undefined || file === '-')
    return {
      message: 'Cannot watch stdin: --watch needs a file',
      hint: 'Name the text file: proviso parse --watch FILE',
    }
  if (schemaFile === '-')
    return { message: 'Cannot watch stdin: --watch needs a schema file', hint: 'Name it: --schema FILE' }
  if (onPush)
    return {
      message: 'Cannot combine --watch and --stream: a file is read whole',
      hint: 'Remove --stream; add --json for one JSON line per reading',
    }
  return undefined
}

export async function watchReadings(request: ReadingRequest, flags: ReportFlags): Promise<number> {
  const files = [request.file, request.schemaFile].filter((file) => file !== undefined)
  let watch: FileWatch
  try {
    watch = watchFiles(files)
  } catch (error) {
    return refuse(notWatchable(error as Error))
  }
  const takeBack = onInterrupt(watch.end)
  try {
    await readOnEveryChange(watch, request, (reading, number) => {
      if (!flags.json) printNote(`--- reading ${number}, ${new Date().toTimeString().slice(0, 8)}`)
      reportReading(reading, { ...flags, ...(!flags.json && !flags.problems && { explain: true }) })
      if (!flags.json) printNote(`--- watching ${files.join(', ')}; end with Ctrl-C`)
    })
  } finally {
    takeBack()
    watch.end()
  }
  const lost = watch.lost()
  return lost ? refuse(notWatchable(lost)) : exitCode('interrupted')
}

/** Reports a reading only if the content of the files differs from the previous one. */
async function readOnEveryChange(
  watch: FileWatch,
  request: ReadingRequest,
  report: (reading: Reading, number: number) => void,
): Promise<void> {
  let known: readonly string[] | undefined
  for (let number = 1; ; ) {
    let reading = await readAnswer(request)
    // A file is absent between the two steps of a replacement: read again after the next event or the grace period.
    if (known && isMissing(reading)) {
      if ((await watch.wait(graceMs)) === 'ended') return
      reading = await readAnswer(request)
    }
    const contents = contentsOf(reading)
    if (!known || contents.some((text, i) => text !== known?.[i])) report(reading, number++)
    known = contents
    if ((await watch.wait()) === 'ended') return
  }
}

function isMissing(reading: Reading): boolean {
  return reading.kind === 'unusable' && reading.why.missing === true
}

function contentsOf(reading: Reading): readonly string[] {
  if (reading.kind === 'read') return [reading.kind, reading.result.raw, reading.schema?.text ?? '']
  return [reading.kind, reading.why.message, JSON.stringify(reading.diagnostics)]
}

function notWatchable(error: Error): Unreadable {
  const { code, path } = error as NodeJS.ErrnoException
  const reason = code === 'ENOENT' ? 'no such folder' : error.message
  return {
    message: `Cannot watch ${path ?? 'the files'}: ${reason}`,
    hint:
      code === 'ENOSPC'
        ? 'Raise the limit of watched folders (fs.inotify.max_user_watches)'
        : 'Name files in a folder that exists',
  }
}
