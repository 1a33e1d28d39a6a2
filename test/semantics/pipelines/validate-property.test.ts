/** Random pipelines, right and wrong: what validates compiles, what compiles has no error, and `--fix` keeps that true. */
import { expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import {
  compilePipeline,
  type FixOptions,
  fixText,
  type LintIssue,
  type Pipeline,
  parsePipeline,
  readYaml,
  type SeenImports,
  type SourceIssue,
  validatePipeline,
} from '../../../src/pipeline/index.ts'
import { mistakenPipeline } from '../../pipelines/mistaken-pipeline.ts'
import { defineCapability } from '../../pipelines/support.ts'
import { Random } from '../../random.ts'

const cases = 300
const seed = 20_261_117
const input: Json = { n: 1, items: ['a', 2], none: ['x'] }

const { capability: calc } = defineCapability({
  capabilityId: 'calc',
  kind: 'local',
  inputContract: { type: 'object', required: ['input'], properties: { input: true } },
  outputContract: {
    type: 'object',
    required: ['n', 'tag'],
    properties: { n: { type: 'integer' }, tag: { type: 'string' } },
  },
  run: () => ({ n: 1, tag: 't' }),
})

interface Judged {
  readonly errors: readonly LintIssue[]
  /** Why the compiler refuses it for this input. */
  readonly refused: readonly SourceIssue[]
}

function judge(text: string, files: Readonly<Record<string, string>>): Judged {
  const read = readYaml(text, 'p.yaml')
  if (!read.ok) throw new Error('the text is no YAML')
  const imports = importsOf(files)
  const { issues } = validatePipeline(read.document, { imports, capabilities: [calc] })
  const parsed = parsePipeline(read.document)
  const errors = issues.filter(({ severity }) => severity === 'error')
  if (!parsed.ok) return { errors, refused: parsed.issues }
  const made = compilePipeline(loaded(parsed.pipeline, imports), { input, capabilities: [calc] })
  return { errors, refused: made.ok ? [] : made.issues }
}

function importsOf(files: Readonly<Record<string, string>>): SeenImports {
  const seen = Object.entries(files).flatMap(([path, text]) => {
    const read = readYaml(text, path)
    const parsed = read.ok ? parsePipeline(read.document) : read
    return parsed.ok ? [[path.replace('.yaml', ''), { pipeline: parsed.pipeline, issues: [] }] as const] : []
  })
  return new Map(seen)
}

function loaded(pipeline: Pipeline, seen: SeenImports): Pipeline {
  const imports = [...pipeline.imports].map(
    ([name, given]) => [name, { ...given, ...seen.get(name) }] as const,
  )
  return { ...pipeline, imports: new Map(imports) } as Pipeline
}

const said = (issues: readonly SourceIssue<string>[]) =>
  issues.map(({ code, line, message }) => `${line} ${code}: ${message}`)

it('a random pipeline is judged the same by validate and by the compiler, before and after --fix', () => {
  const seen = { valid: 0, refused: 0, fixed: 0 }
  const codes = new Set<string>()
  for (let n = 0; n < cases; n++) {
    const random = new Random(seed + n)
    const { text, imports, changes } = mistakenPipeline(random, random.int(0, 3))
    const about = `case ${n}, ${changes.join(', ')}: ${text}`
    const before = judge(text, imports)
    expectAgreement(before, about)
    for (const { code } of before.errors) codes.add(code)
    const options = { imports: importsOf(imports), capabilities: [calc] }
    const check: NonNullable<FixOptions['check']> = (document) => validatePipeline(document, options).issues
    const fixed = fixText(text, { ...options, name: 'p.yaml', check })
    const after = fixed.applied.length > 0 ? judge(fixed.text, imports) : before
    expectAgreement(after, `${about}, fixed: ${fixed.text}`)
    expect(after.errors.length, about).toBeLessThanOrEqual(before.errors.length)
    seen[before.errors.length === 0 ? 'valid' : 'refused']++
    if (before.errors.length > 0 && after.errors.length === 0) seen.fixed++
  }
  // Enough of both, and of many kinds, or the cases say little.
  expect(seen.valid).toBeGreaterThan(cases * 0.2)
  expect(seen.refused).toBeGreaterThan(cases * 0.3)
  expect(seen.fixed).toBeGreaterThan(5)
  expect(codes.size).toBeGreaterThan(15)
}, 600_000)

function expectAgreement({ errors, refused }: Judged, about: string): void {
  const found = { errors: said(errors), refused: said(refused) }
  if (errors.length > 0 !== refused.length > 0) expect(found, about).toEqual({ errors: [], refused: [] })
  for (const { line, column, hint, code } of errors)
    expect(
      { line: line > 0, column: column > 0, code: code !== '', hint: hint !== undefined || code },
      about,
    ).toEqual({
      line: true,
      column: true,
      code: true,
      hint: true,
    })
}
