import { applyPatch } from 'diff'
import { expect, it } from 'vitest'
import { unifiedDiff } from './edits.ts'

it('shows what changes with three lines around it', () => {
  expect(unifiedDiff('p.yaml', 'a\nb\nc\nd\ne\n', 'a\nb\nc\nd\nE\n')).toBe(
    '--- p.yaml.orig\n+++ p.yaml\n@@ -2,4 +2,4 @@\n b\n c\n d\n-e\n+E\n',
  )
})

it('says nothing when nothing changes', () => {
  expect(unifiedDiff('p.yaml', 'a\n', 'a\n')).toBe('')
})

it.each([
  ['a\r\nb\r\n', 'a\r\nb\r\nc\r\n'],
  ['a\nb', 'a\nx\nb'],
])('can be applied: %j', (before, after) => {
  expect(applyPatch(before, unifiedDiff('p', before, after), { autoConvertLineEndings: false })).toBe(after)
})
