/** The list of reliability checks names T1 to T22, and only tests and scripts that exist. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { longCommands, reliabilityTable } from './reliability-table.mjs'
import { root } from './setup.mjs'

it('names every check once, with tests and scripts that exist', () => {
  expect(reliabilityTable.map(({ id }) => id)).toEqual(
    Array.from({ length: 22 }, (_, index) => `T${index + 1}`),
  )
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const check of reliabilityTable) {
    expect(check.tests.filter((path) => !existsSync(join(root, path)))).toEqual([])
    for (const command of longCommands(check))
      expect(scripts).toHaveProperty([command.split(' ')[2] as string])
  }
})
