/** The table of exit codes. Scripts may rely on them, and `proviso --help` prints them. */

interface ExitCode {
  readonly code: number
  readonly meaning: string
}

export const exitTable = {
  ok: { code: 0, meaning: 'done' },
  internal: { code: 1, meaning: 'a bug in Proviso' },
  usage: { code: 2, meaning: 'invalid usage, configuration or schema, or unreadable input' },
  unmet: {
    code: 3,
    meaning: 'contract not met, plan rejected, run failed, or check failed',
  },
  lint: { code: 4, meaning: 'lint found errors' },
  importFailed: { code: 5, meaning: 'import failed' },
  waiting: { code: 6, meaning: 'run waits for a person' },
  budget: { code: 7, meaning: 'budget exhausted' },
  interrupted: { code: 130, meaning: 'interrupted' },
} as const satisfies Record<string, ExitCode>

export type Outcome = keyof typeof exitTable

export function exitCode(outcome: Outcome): number {
  return exitTable[outcome].code
}

/** Renders the table as help text; `outcomes` narrows it to what one command can return. */
export function describeExitCodes(outcomes = Object.keys(exitTable) as readonly Outcome[]): string {
  const rows = outcomes.map(
    (outcome) => `  ${String(exitTable[outcome].code).padStart(3)}  ${exitTable[outcome].meaning}`,
  )
  return ['Exit codes:', ...rows].join('\n')
}
