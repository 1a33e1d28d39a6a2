/** `proviso verify`: checks the invariants of every journal in a store. */
import type { Command } from 'commander'
import { env } from '../env.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { count } from '../one-line.ts'
import { addStoreOption, chooseExistingStore, readStore } from '../options/store-option.ts'
import { colors, printJson, printNote, printText } from '../print.ts'
import { type VerifiedRun, verifyRuns } from '../run/verify-runs.ts'

interface Flags {
  readonly store?: string
  readonly json?: true
}

export function addVerifyCommand(program: Command): void {
  addStoreOption(
    program
      .command('verify')
      .summary('check the journals of a store')
      .description(
        'check the journal, head, audit chain and asks of every run, or of the given runs, without writing',
      )
      .argument('[runs...]', 'run ids (default: all)'),
  )
    .option('--json', 'print one JSON object')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage', 'unmet'])}`)
    .action(async (runIds: readonly string[], { store, json }: Flags) => {
      const counts = { runs: 0, events: 0 }
      const bad = await readStore(chooseExistingStore(store), async (opened) => {
        const found: VerifiedRun[] = []
        for await (const run of verifyRuns(opened, runIds)) {
          counts.runs++
          counts.events += run.events
          if (run.issues.length > 0) found.push(run)
          showCount(counts.runs)
        }
        return found
      })
      clearCount()
      if (json) printJson({ ok: bad.length === 0, ...counts, bad }, 'line')
      else report(bad, counts)
      process.exitCode = exitCode(bad.length === 0 ? 'ok' : 'unmet')
    })
}

function report(bad: readonly VerifiedRun[], counts: { runs: number; events: number }): void {
  for (const { runId, issues } of bad)
    for (const { at, code, message } of issues) {
      const location = 'pointer' in at ? at.pointer : ''
      printNote(`${colors.red('✗')} ${colors.bold(`${runId}${location}`)}  ${message} (${code})`)
    }
  const verdict = bad.length === 0 ? 'all in order' : `${bad.length} not in order`
  printText(`${count(counts.runs, 'run')}, ${count(counts.events, 'event')}: ${verdict}`)
}

const onTerminal = process.stderr.isTTY === true && !env.noColor

function showCount(runs: number): void {
  if (onTerminal && runs % 100 === 0) process.stderr.write(`\r${runs} runs`)
}

function clearCount(): void {
  if (onTerminal) process.stderr.write('\r\u001b[K')
}
