/** What is promised of the official suites, in the state of the Debian package of 2022 and in that of August 2026. Ajv alone is listed for comparison and not pinned. */
import type { SuiteDraft, SuiteRow } from './schemas.ts'

/** The only required tests that fail: vocabularies of a custom meta-schema are not supported. */
const allowed = ['no validation: invalid number, but it still validates']

/** The least number of required tests that a draft has; fewer were not the suite. */
const least: Readonly<Record<SuiteDraft, number>> = {
  draft4: 540,
  draft6: 720,
  draft7: 755,
  'draft2019-09': 1_060,
  'draft2020-12': 1_060,
}

/** Optional tests that fail on purpose: JSON of JavaScript has one kind of number, and content is an annotation. */
const allowedOptional = ['zeroTerminatedFloats.json', 'content.json']

/** The form of a pattern is the meta-schema's annotation, not an assertion; a schema that uses such a pattern is refused all the same. */
const allowedGroups = ['\\a is not an ECMA 262 control escape']

/** What differs from the promise: a required or optional test that fails, or a format where Ajv's own verdict is better. */
export function differences(rows: readonly SuiteRow[]): string[] {
  const found: string[] = []
  for (const row of rows) {
    if (row.validator === 'ajv alone') continue
    const where = `${row.draft}, ${row.part}, ${row.validator}`
    if (row.part === 'required' && row.passed < least[row.draft]) found.push(`${where}: ${row.passed} passed`)
    if (row.part === 'format') {
      const ajv = rows.find((each) => isSamePart(each, row) && each.validator === 'ajv alone')
      if (ajv === undefined || row.failed > ajv.failed) found.push(`${where}: ${row.failed} formats failed`)
      continue
    }
    for (const { file, group, test } of row.failures) {
      const expected =
        row.part === 'required'
          ? allowed.includes(test)
          : allowedOptional.includes(file) || allowedGroups.includes(group)
      if (!expected) found.push(`${where}: ${file}: ${group}: ${test}`)
    }
  }
  return found
}

function isSamePart(a: SuiteRow, b: SuiteRow): boolean {
  return a.draft === b.draft && a.part === b.part
}
