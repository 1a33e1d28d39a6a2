/** The page of slips is what `npm run bench -- slips --write` makes: its texts, and our own column, asked again here. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { slips } from '../../bench/slips/cases.mjs'
import { ownAnswer } from '../../bench/slips/own-answer.mjs'
import { answerRow, slipHead, verdict } from '../../bench/slips/page.mjs'
import { parse } from '../../src/output/index.ts'
import { root } from '../support.ts'

const page = readFileSync(join(root, 'docs/slips.md'), 'utf8')
const sections = page.split(/^(?=## \d+\. )/m).slice(1)

describe('docs/slips.md', () => {
  it('has twenty slips, each of them another', () => {
    expect(slips.length).toBe(20)
    expect(sections.length).toBe(20)
    expect(new Set(slips.map(({ text }) => text)).size).toBe(20)
  })

  it.each(slips.map((slip, i) => [slip.title, i] as const))('shows %s as it is read now', (_, i) => {
    const slip = slips[i] as (typeof slips)[number]
    const section = sections[i] as string
    expect(section.startsWith(slipHead(slip, i)), 'run `npm run bench -- slips --write`').toBe(true)
    expect(section).toContain(answerRow(slip, 'Proviso', ownAnswer(parse, slip)))
  })

  it('counts our own column', () => {
    const verdicts = slips.map((slip) => verdict(slip, ownAnswer(parse, slip)))
    const count = (wanted: string) => verdicts.filter((one) => one === wanted).length
    expect(count('wrong')).toBe(0)
    expect(page).toContain(`| Proviso | ${count('right')} | 0 | ${count('refused')} |`)
  })

  it('says where we are not right', () => {
    slips.forEach((slip, i) => {
      const isNamed = page.includes(`\n- ${i + 1}. ${slip.title}. Right: `)
      expect(isNamed, slip.title).toBe(verdict(slip, ownAnswer(parse, slip)) !== 'right')
    })
  })
})
