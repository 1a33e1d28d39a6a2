/** Tables whose rows lost a bracket, and words between the items of a list. */
import { describe, expect, it } from 'vitest'
import { parse } from '../parse.ts'
import { createReader } from '../reader.ts'

function streamed(text: string): unknown {
  const reader = createReader()
  for (const unit of text) reader.push(unit)
  return reader.end()
}

describe.each<[string, readonly (readonly [string, unknown])[]]>([
  [
    'a row that lost its opening bracket is a row',
    [
      ['{"t": [["a"], "b", "c"], ["d"]]}', { t: [['a'], ['b', 'c'], ['d']] }],
      ['{"t": [[1],\n  -2.5, true, null],\n  [4]\n], "u": 1}', { t: [[1], [-2.5, true, null], [4]], u: 1 }],
      ['{"t": [[1], 2], [3], 4], [5]]}', { t: [[1], [2], [3], [4], [5]] }],
      ['{"t": [["]"], "[", "\\"]"], ["x", "]"]]}', { t: [[']'], ['[', '"]'], ['x', ']']] }],
    ],
  ],
  [
    'a list of lists and other values stays what it is',
    [
      ['{"t": [[1], 2, 3], "u": [4],}', { t: [[1], 2, 3], u: [4] }],
      ['{"t": [[1], "x"],}', { t: [[1], 'x'] }],
      ['[[[1], 2], [3],]', [[[1], 2], [3]]],
    ],
  ],
  [
    'words behind a closed item and before the comma belong to nothing',
    [
      ['[{"a": 1} and {"a": 2}]', [{ a: 1 }, { a: 2 }]],
      ['[[1] first, [2] second]', [[1], [2]]],
      ['[{"a": 1} (the first), {"a": 2} (the second)]', [{ a: 1 }, { a: 2 }]],
      // On lines of their own, behind a comma, or as numbers and literals they are items.
      ['[{"a": 1}\nred\ngreen]', [{ a: 1 }, 'red', 'green']],
      ['[{"a": 1}, red]', [{ a: 1 }, 'red']],
      ['[[1] 2, true]', [[1], 2, true]],
      ['[[1] 2 kg]', [[1], '2 kg']],
    ],
  ],
])('%s', (_, cases) => {
  it.each(cases)('%s', (text, value) => {
    expect(parse(text)).toMatchObject({ ok: true, value })
    expect(streamed(text)).toMatchObject({ ok: true, value })
  })
})

describe('a list in an object without a key', () => {
  it.each([
    // Nothing closes a table here: to append the list or to nest it would be a guess.
    '{"t": [[1], 2], [3]}',
    '{"t": ["a"], ["b"], "u": 1}',
    '{"t": [[1], 2], [3], "u": [4]]}',
    `{"t": [[1], 2], [${'3, '.repeat(3_000)}3]]}`,
  ])('is refused: %#', (text) => {
    expect(parse(text)).toMatchObject({ ok: false, issues: [{ code: 'output/stray-value' }] })
    expect(streamed(text)).toMatchObject({ ok: false, issues: [{ code: 'output/stray-value' }] })
  })
})
