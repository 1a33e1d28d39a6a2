/** The page about templates is true: its templates can be read and compiled, its limits and reasons are the code's. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { xmlLimits } from '../../src/pipeline/index.ts'
import { failureReasons } from '../seams/domain.ts'
import { deepestCalls, mostNodes } from '../seams/pipeline.ts'
import { root } from '../support.ts'
import { compiled, complaints } from '../templates/support.ts'

const page = readFileSync(join(root, 'docs/reference/templates.md'), 'utf8')
const inputs = { dir: '/', text: 'x', notes: { monday: 'a', tuesday: 'b' } }

it.each([...page.matchAll(/```xml\n([\s\S]*?)```/g)].map(([, xml = '']) => xml))('compiles %s', (xml) => {
  expect(complaints(xml, inputs)).toEqual([])
  expect(compiled(xml, inputs).draft.nodes.length).toBeGreaterThan(0)
})

it('has the limits of the code', () => {
  for (const [what, limit] of [
    ['bytes of a file', xmlLimits.bytes],
    ['elements inside each other', xmlLimits.depth],
    ['elements', xmlLimits.elements],
    ['templates inside each other', deepestCalls],
    ['nodes of the draft', mostNodes],
  ] as const)
    expect(page).toContain(`| ${what} | ${limit} |`)
})

it('has every reason with which a task can fail', () => {
  for (const reason of Object.values(failureReasons))
    expect(page).toMatch(new RegExp(`\\| TASK_FAILURE \\| .*\`${reason}\``))
})
