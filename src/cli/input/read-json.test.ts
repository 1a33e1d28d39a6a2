import { expect, it } from 'vitest'
import { findOffset } from './read-json.ts'

const text = `{
  "a/b": [1, {"x": "}]\\"", "y": [true, null]}],
  "n": -1.5e3,
  "a/b": [[], {"x": 2}]
}`

it.each([
  ['', '{\n'],
  ['/a~1b', '[[],'],
  ['/a~1b/1/x', '2}]'],
  ['/n', '-1.5e3'],
])('finds %j', (pointer, begins) => {
  expect(text.slice(findOffset(text, pointer)).startsWith(begins)).toBe(true)
})

it('names what is around a value that is not there', () => {
  expect(text.slice(findOffset(text, '/a~1b/1/missing/deep'))).toMatch(/^\{"x": 2\}/)
})

it('does not take brackets inside strings for brackets', () => {
  const other = '[{"s": "}]\\\\"}, 7]'
  expect(other.slice(findOffset(other, '/1'))).toBe('7]')
})
