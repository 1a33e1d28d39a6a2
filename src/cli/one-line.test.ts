import { expect, it } from 'vitest'
import { count, oneLine, spell } from './one-line.ts'
import { table } from './render/table.ts'
import { commandLine } from './shell.ts'

it.each([
  [7, '7 ms'],
  [1_500, '1.5 s'],
  [90_000, '2 min'],
  [23 * 3_600_000, '23 h'],
  [49 * 3_600_000, '2 d'],
])('spells %d ms as %s', (ms, text) => {
  expect(spell(ms)).toBe(text)
})

it('cuts texts without cutting a character in two', () => {
  expect(oneLine('abc\u{1f375}def', 5)).toBe('abc…')
  expect(oneLine('x'.repeat(1_000_000), 10)).toBe(`${'x'.repeat(9)}…`)
})

it('counts', () => {
  expect([count(0, 'run'), count(1, 'run'), count(2, 'run')]).toEqual(['0 runs', '1 run', '2 runs'])
})

it('aligns columns', () => {
  expect(
    table(
      ['A', 'LONG'],
      [
        ['1', 'x'],
        ['222', ''],
      ],
    ),
  ).toBe('A    LONG\n1    x\n222')
})

it('quotes words as a shell wants them', () => {
  expect(commandLine(['reply', "it's", 'a b', 'r:ask:1', ''])).toBe(`reply 'it'\\''s' 'a b' r:ask:1 ''`)
  // What PowerShell would read as something else is quoted: an array, a variable.
  expect(commandLine(['reply', '@a.json', 'a,b', 'C:\\runs.db', 'a b'], 'win32')).toBe(
    'reply "@a.json" "a,b" C:\\runs.db "a b"',
  )
})
