/** `docs/maintainers/requirements.md` is complete and honest: one row per id, a known status, and real files behind every done row. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../support.ts'

/** How many ids each source has; two-digit sources pad their numbers. */
const sources = [
  { prefix: 'AROS-', count: 74, digits: 2 },
  { prefix: 'FSD-', count: 50, digits: 2 },
  { prefix: 'ADR-', count: 20, digits: 2 },
  { prefix: 'FLEX-', count: 114, digits: 2 },
  { prefix: 'RAO-', count: 22, digits: 2 },
  { prefix: 'AGT-', count: 16, digits: 2 },
  { prefix: 'C', count: 61, digits: 1 },
]
const ids = sources.flatMap(({ prefix, count, digits }) =>
  Array.from({ length: count }, (_, index) => prefix + String(index + 1).padStart(digits, '0')),
)

const rows = readFileSync(join(root, 'docs/maintainers/requirements.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| [A-Z]+-?\d/.test(line))
  .map((line) => {
    const [id = '', requirement = '', status = '', where = '', shown = ''] = line.slice(2, -2).split(' | ')
    return { id, requirement, status, where, shown, cells: line.split(' | ').length }
  })

it('has exactly one row per id, in order', () => {
  expect(rows.map(({ id }) => id)).toEqual(ids)
})

it('says in every row what is required, and its status', () => {
  for (const { id, requirement, status, cells } of rows) {
    expect(cells, `${id}: five cells`).toBe(5)
    expect(requirement.length, `${id}: a requirement`).toBeGreaterThan(10)
    expect(['done', 'open', 'n/a'], `${id}: status`).toContain(status)
  }
})

it('names for every done row a place and a proof that exist', () => {
  const scripts = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts
  for (const { id, where, shown } of rows.filter(({ status }) => status === 'done')) {
    expect(quoted(where), `${id}: where`).not.toEqual([])
    expect(quoted(shown), `${id}: shown by`).not.toEqual([])
    for (const name of [...quoted(where), ...quoted(shown)]) {
      const [, script] = /^npm (?:run )?([\w:]+)/.exec(name) ?? []
      if (script === undefined) expect(existsSync(join(root, name)), `${id}: ${name} exists`).toBe(true)
      else expect(scripts, `${id}: ${name} is a command`).toHaveProperty([script])
    }
  }
})

function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}
