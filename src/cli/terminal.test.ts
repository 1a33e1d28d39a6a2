import { expect, it } from 'vitest'
import { cutLine } from './terminal.ts'

it('cuts a line to its width in cells, whatever the signs, and closes colours', () => {
  expect(cutLine('✓ Gather all of it', 10)).toBe('✓ Gather …')
  expect(cutLine('├─ ✓ 茶茶茶茶', 9)).toBe('├─ ✓ 茶…')
  expect(cutLine('\u001b[32m✓\u001b[39m abcdef', 5)).toBe('\u001b[32m✓\u001b[39m ab…\u001b[0m')
  expect(cutLine('\u001b[32m✓\u001b[39m abc', 5)).toBe('\u001b[32m✓\u001b[39m abc')
})
