/**
 * The codes of issues are unions per entry point, derived from tables. The types are checked by `npm run types`; the test
 * of the sources finds codes that no table has.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type { ClientCode } from '../../src/client/index.ts'
import type { RunIssueCode, RunResult } from '../../src/index.ts'
import { parse, type ReaderIssueCode } from '../../src/output/index.ts'
import {
  type compilePipeline,
  type LintIssueCode,
  type lint,
  type PipelineIssueCode,
  type RuleId,
  ruleTable,
} from '../../src/pipeline/index.ts'
import {
  type CapabilityCatalog,
  type DiagnosticCode,
  diagnosticTable,
  type ParseIssueCode,
  type parseEnvelope,
  type RegisterIssueCode,
} from '../../src/plan/index.ts'
import { type ProblemIssueCode, refusalTable } from '../../src/server/index.ts'
import type { AttemptIssueCode } from '../../src/types.ts'
import { errorTable } from '../seams/base.ts'
import { attemptIssueTable, failureTable, parseIssueTable } from '../seams/domain.ts'
import { readerIssueTable } from '../seams/output.ts'
import { pipelineIssueTable } from '../seams/pipeline.ts'
import { catalogIssueTable } from '../seams/plan.ts'
import { requestIssueTable } from '../seams/server.ts'
import type { AnchorProblem } from '../seams/stores.ts'

/** The code of the issues in a result that may have some. */
type CodeIn<Result> =
  Extract<Result, { readonly ok: false }> extends {
    readonly issues: readonly { readonly code: infer Code }[]
  }
    ? Code
    : never

describe('the code of an issue', () => {
  it('is one of the codes of the entry point', () => {
    expectTypeOf<CodeIn<ReturnType<typeof parse>>>().toEqualTypeOf<ReaderIssueCode>()
    expectTypeOf<CodeIn<ReturnType<typeof parseEnvelope>>>().toEqualTypeOf<ParseIssueCode>()
    expectTypeOf<CodeIn<ReturnType<CapabilityCatalog['register']>>>().toEqualTypeOf<RegisterIssueCode>()
    expectTypeOf<CodeIn<ReturnType<typeof compilePipeline>>>().toEqualTypeOf<PipelineIssueCode>()
    expectTypeOf<ReturnType<typeof lint>['issues'][number]['code']>().toEqualTypeOf<LintIssueCode>()
    expectTypeOf<RunResult['issues'][number]['code']>().toEqualTypeOf<RunIssueCode>()
  })

  it('is no other text, so that a misspelled comparison does not compile', () => {
    for (const open of [
      {} as ReaderIssueCode,
      {} as ParseIssueCode,
      {} as RegisterIssueCode,
      {} as PipelineIssueCode,
      {} as RuleId,
      {} as LintIssueCode,
      {} as DiagnosticCode,
    ])
      expectTypeOf<string>().not.toExtend<typeof open>()
    const result = parse('', { type: 'object' })
    // @ts-expect-error the reader has no such code
    expect(result.issues.some(({ code }) => code === 'output/emtpy')).toBe(false)
    expect(result.issues.map(({ code }) => code)).toEqual(['output/empty' satisfies ReaderIssueCode])
  })

  it('may be a code of a capability in runs and problems', () => {
    expectTypeOf<string>().toExtend<RunIssueCode>()
    expectTypeOf<string>().toExtend<AttemptIssueCode>()
    expectTypeOf<string>().toExtend<ProblemIssueCode>()
  })

  it('covers every rule of the linter', () => {
    const ids: readonly RuleId[] = ruleTable.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ruleTable.length)
  })
})

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Files whose codes never reach an entry point: issues of run files and of text that the command cannot read. */
const cliCodes = [
  'input/unreadable',
  'node-data/shape',
  'run-file/function',
  'run-file/missing',
  'run-file/shape',
  'run-file/unknown',
]

const tables = {
  attemptIssueTable,
  catalogIssueTable,
  diagnosticTable,
  errorTable,
  failureTable,
  parseIssueTable,
  pipelineIssueTable,
  readerIssueTable,
  refusalTable,
  requestIssueTable,
}
const listed = Object.values(tables).flatMap((table) => Object.keys(table))
const known = new Set([...listed, ...cliCodes])

/**
 * The code of unknown rules is part of `LintIssueCode`, the second one stands for a planner that failed, and the
 * last two are only codes of warnings.
 */
const others = new Set<string>([
  'lint/unknown-rule',
  'plan/planner-failed',
  'store/anchor-replaced',
  'store/clear-secrets',
  'webhook/failed',
])

/** Problems of the anchor of a store are no issues; their codes are a union of their own. */
const anchorCodes: readonly AnchorProblem['code'][] = [
  'anchor/lost',
  'anchor/other-file',
  'anchor/other-history',
  'anchor/count',
]
for (const code of anchorCodes) others.add(code)

/** The client has no tables: it is loaded by browsers. */
const clientCodes: readonly ClientCode[] = [
  'client/unreachable',
  'client/unexpected-response',
  'client/output-invalid',
  'client/option',
]
for (const code of clientCodes) others.add(code)

/** Whether a literal is the value of `code`, also as one side of a conditional expression. */
function isCode({ parent }: ts.Node): boolean {
  if (ts.isConditionalExpression(parent)) return isCode(parent)
  return ts.isPropertyAssignment(parent) && ts.isIdentifier(parent.name) && parent.name.text === 'code'
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sourceFiles(path)
    return path.endsWith('.ts') && !path.endsWith('.test.ts') ? [path] : []
  })
}

/** Every text of the form `area/problem` that is a `code`, or has an area of the tables, with its location. */
function codesIn(path: string): { readonly code: string; readonly at: string }[] {
  const text = readFileSync(path, 'utf8')
  const areas = new Set([...known].map((code) => code.split('/')[0] ?? ''))
  const found: { code: string; at: string }[] = []
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const visit = (node: ts.Node): void => {
    const isImport =
      node.parent !== undefined &&
      (ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent))
    if (ts.isStringLiteral(node) && !isImport && /^[a-z-]+\/[a-zA-Z$][\w-]*$/.test(node.text)) {
      const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1
      if (isCode(node) || areas.has(node.text.split('/')[0] ?? ''))
        found.push({ code: node.text, at: `${relative(root, path)}:${line}` })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

describe('the sources', () => {
  const found = sourceFiles(join(root, 'src')).flatMap(codesIn)

  it('report no code that is in no table', () => {
    expect(found.length).toBeGreaterThan(300)
    expect(found.filter(({ code }) => !known.has(code) && !others.has(code))).toEqual([])
  })

  it('name every code of the tables outside of the table, or derive it', () => {
    const isDerived = (code: string) =>
      // Made from keywords, outcomes, failures of drafts and names of errors.
      /^(schema|config|pipeline|attempt|planner)\//.test(code)
    const isNamed = (code: string) => found.filter((each) => each.code === code).length > 1
    const unnamed = listed.filter((code) => code.includes('/') && !isDerived(code) && !isNamed(code))
    expect(unnamed).toEqual([])
  })
})
