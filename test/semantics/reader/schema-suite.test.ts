/** The official JSON Schema test suites pass in every draft, interpreted and compiled alike. */
import { describe, expect, it } from 'vitest'
import { missingSuite, suiteFolder } from '../../../scripts/schema-suite.mjs'
import { differences } from '../../conformance/schema-table.ts'
import { playSuite, type SuiteRow, suiteDrafts } from '../../conformance/schemas.ts'

const folder = suiteFolder()

if (folder === undefined) {
  console.log(`Skipped: ${missingSuite}`)
  describe.skip('the official suites', () => it('are absent', () => {}))
} else {
  const rows = playSuite(folder)

  it('the official suites pass but for what is listed', () => {
    expect(differences(rows)).toEqual([])
    expect(new Set(rows.map(({ draft }) => draft))).toEqual(new Set(Object.keys(suiteDrafts)))
  })

  it('the interpreter fails no test that Ajv passes', () => {
    const failing = (validator: SuiteRow['validator']) =>
      rows
        .filter((row) => row.validator === validator)
        .flatMap(({ draft, failures }) =>
          failures.map(({ file, group, test }) => `${draft} ${file} ${group} ${test}`),
        )
    const ajv = new Set(failing('ajv alone'))
    expect(failing('interpreter').filter((test) => !ajv.has(test))).toEqual([])
  })
}

it('a test that fails is seen', () => {
  const failure = { file: 'type.json', group: 'types', test: 'a string', valid: true }
  const row = { draft: 'draft7', part: 'required', validator: 'interpreter' } as const
  expect(differences([{ ...row, passed: 825, failed: 1, failures: [failure] }])).toEqual([
    'draft7, required, interpreter: type.json: types: a string',
  ])
  expect(differences([{ ...row, passed: 3, failed: 0, failures: [] }])).toEqual([
    'draft7, required, interpreter: 3 passed',
  ])
})
