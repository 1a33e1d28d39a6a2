/** Prints one reading of `proviso parse` and returns its exit code. */
import { explain } from '../../output/index.ts'
import { problemLine } from '../diagnostics/diagnostics.ts'
import { exitCode } from '../exit-codes.ts'
import { printIssues, printJson, printNote, refuse } from '../print.ts'
import { type Reading, readingAsData, readingDiagnostics } from './reading.ts'

export interface ReportFlags {
  readonly json?: true
  readonly stream?: true
  readonly explain?: true
  readonly shadow?: true
  readonly problems?: true
}

export function reportReading(reading: Reading, flags: ReportFlags): number {
  if (flags.problems) for (const one of readingDiagnostics(reading)) printNote(problemLine(one))
  const asData = flags.json || flags.stream
  if (reading.kind === 'unusable') {
    if (asData) printJson(readingAsData(reading), 'line')
    return flags.problems ? exitCode('usage') : refuse(reading.why)
  }
  const { result, name } = reading
  const explained = flags.explain || flags.shadow
  if (explained) printNote(explain(result))
  if (asData) printJson(readingAsData(reading), 'line')
  else if (result.ok) {
    printJson(result.value, 'indented')
    if (!flags.problems)
      for (const { message, hint } of result.issues) printNote(`${message}. ${hint ?? ''}`.trim())
  } else if (!explained && !flags.problems) {
    printIssues(result.issues, name, result.raw)
    if (result.truncated) printNote('The text ends before the value does.')
    printNote('Add --explain to see what was found and changed.')
  }
  return exitCode(result.ok ? 'ok' : 'unmet')
}
