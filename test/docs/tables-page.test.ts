/** `docs/reference/tables.md` is printed from the code; `npx vitest run test/docs/tables-page.test.ts -u` prints it anew. */
import { expect, it } from 'vitest'
import type { FailureCode } from '../../src/index.ts'
import { diagnosticTable, planLimits } from '../../src/plan/index.ts'
import { errorStatus, refusalTable } from '../../src/server/index.ts'
import { errorTable } from '../seams/base.ts'
import { exitTable } from '../seams/cli.ts'
import {
  attemptIssueTable,
  errorTypes,
  eventTable,
  failureError,
  failureTable,
  outcomeTable,
  parseIssueTable,
  secretNames,
} from '../seams/domain.ts'
import { decisionsByKind } from '../seams/engine.ts'
import { readerIssueTable, ruleTable } from '../seams/output.ts'
import { pipelineIssueTable } from '../seams/pipeline.ts'
import { catalogIssueTable } from '../seams/plan.ts'
import { conditionLimits, operatorTable, schemaLimits } from '../seams/schema.ts'
import { requestIssueTable } from '../seams/server.ts'

/** Where the reason is a finding's or a resource's, no one of them stands for all. */
function reasonText(type: string, reason: string): string {
  if (type === 'TASK_FAILURE' || reason === 'output') return `\`${reason}\``
  return type === 'RESOURCE_EXHAUSTION' ? '`turns` or `context`' : 'and what is wrong'
}

const whereInNames = { part: 'anywhere', end: 'at the end', word: 'as a whole word at the end' } as const

type Cell = string | number | undefined

function table(title: string, head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const line = (cells: readonly Cell[]) => `| ${cells.map((cell) => String(cell ?? '')).join(' | ')} |`
  return [`## ${title}`, '', line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

function codes(title: string, rows: Readonly<Record<string, string>>): string {
  return table(
    title,
    ['code', 'what it says'],
    Object.entries(rows).map(([code, says]) => [`\`${code}\``, says]),
  )
}

it('prints the tables of the reference from the code', async () => {
  const page = [
    '# Tables',
    'Printed from the code; do not edit by hand.',
    table(
      'Rules of the reader',
      ['rule', 'stage', 'tolerance', 'cost', 'what it does'],
      Object.entries(ruleTable).map(([name, rule]) => [
        `\`${name}\``,
        rule.stage,
        rule.level,
        rule.cost,
        rule.sentence,
      ]),
    ),
    codes('Issues of the reader', readerIssueTable),
    table(
      'Limits of untrusted schemas',
      ['limit', 'value'],
      Object.entries(schemaLimits).map(([name, value]) => [`\`${name}\``, value]),
    ),
    table(
      'Operators of conditions',
      ['operator', 'operands', 'true when'],
      Object.entries(operatorTable).map(([name, row]) => [
        `\`${name}\``,
        row.arity === 'many' ? '1 or more' : row.arity,
        name === 'var' ? `${row.sentence} (a value)` : row.sentence,
      ]),
    ),
    table(
      'Limits of conditions and plans',
      ['limit', 'value'],
      [
        ...Object.entries(conditionLimits).map(([name, value]) => [`condition \`${name}\``, value]),
        ...Object.entries(planLimits).map(([name, value]) => [`plan \`${name}\``, value]),
      ],
    ),
    table(
      'Diagnostics of the prover',
      ['code', 'severity', 'cause', 'what it says'],
      Object.entries(diagnosticTable).map(([code, row]) => [
        `\`${code}\``,
        row.severity,
        `\`${row.cause}\``,
        row.sentence,
      ]),
    ),
    codes(
      'Issues of the parsers of envelopes, policies, contracts, facets, capabilities and drafts',
      parseIssueTable,
    ),
    codes('Issues of runs, besides those of the reader, of failures and of the prover', attemptIssueTable),
    codes('Issues of requests, besides those of the parsers and the catalog', requestIssueTable),
    codes('Issues of pipelines, templates and configuration files', pipelineIssueTable),
    codes('Issues of the catalog, besides those of the parser of capabilities', catalogIssueTable),
    table(
      'Errors',
      ['code', 'what can be done', 'exit code', 'hint'],
      Object.entries(errorTable).map(([code, row]) => [`\`${code}\``, row.fate, row.exitCode, row.hint]),
    ),
    table(
      'Problems of the server',
      ['code', 'status', 'title', 'hint, where there is none more precise'],
      [
        ...Object.entries(refusalTable).map(
          ([code, row]) => [code, row.status, row.title, row.hint] as const,
        ),
        ...Object.entries(errorStatus).map(
          ([code, row]) => [code, row.status, row.title, undefined] as const,
        ),
      ].map(([code, ...row]) => [`\`${code}\``, ...row]),
    ),
    table(
      'Exit codes',
      ['code', 'meaning'],
      Object.values(exitTable).map((row) => [row.code, row.meaning]),
    ),
    table(
      'Events',
      ['event', 'what it says'],
      Object.entries(eventTable).map(([type, says]) => [`\`${type}\``, says]),
    ),
    table(
      'Outcomes of attempts',
      ['outcome', 'what it says'],
      Object.entries(outcomeTable).map(([outcome, says]) => [`\`${outcome}\``, says]),
    ),
    table(
      'Failures of runs and nodes',
      ['code', 'what it says', 'leaves as', 'what to do'],
      Object.entries(failureTable).map(([code, { says, hint }]) => {
        // Its own keys.
        const { type, reason } = failureError({ code: code as FailureCode, message: '' })
        return [`\`${code}\``, says, `${type} ${reasonText(type, reason)}`, hint]
      }),
    ),
    table(
      'Types of errors',
      ['type', 'what it says'],
      Object.entries(errorTypes).map(([type, says]) => [`\`${type}\``, says]),
    ),
    table(
      'Answers to asks',
      ['ask', 'takes'],
      Object.entries(decisionsByKind).map(([kind, decisions]) => [`\`${kind}\``, decisions.join(', ')]),
    ),
    table(
      'Names of secrets',
      ['in the name of a key', 'where'],
      Object.entries(secretNames).map(([word, where]) => [`\`${word}\``, whereInNames[where]]),
    ),
  ]
  await expect(`${page.join('\n\n')}\n`).toMatchFileSnapshot('../../docs/reference/tables.md')
})
