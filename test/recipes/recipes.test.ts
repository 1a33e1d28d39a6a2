/** The recipes of CONTRIBUTING.md work: each is carried out on a copy of the sources, which is then checked, built and used. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../support.ts'
import { command } from './command.ts'
import { event } from './event.ts'
import { lintRule } from './lint-rule.ts'
import { obligation } from './obligation.ts'
import { provider } from './provider.ts'
import { repairRule } from './repair-rule.ts'
import { route } from './route.ts'
import { type Built, createCopy } from './scratch.ts'
import { storeDialect } from './store-dialect.ts'

const recipes = [provider, storeDialect, lintRule, event, route, command, obligation, repairRule]
const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')

const copy = createCopy()
const touched = new Map(recipes.map((recipe) => [recipe, copy.apply(recipe)]))
let built: Built

beforeAll(async () => {
  built = await copy.build([...new Set(recipes.flatMap(({ entries }) => entries))])
}, 120_000)
afterAll(() => copy.dispose())

it('all recipes together pass the type check', async () => {
  expect(await copy.checkTypes()).toBe('')
}, 240_000)

it('every path that CONTRIBUTING.md names exists', () => {
  const named = namedPaths(page)
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

describe.each(recipes)('$title', (recipe) => {
  it('works', () => recipe.check(built))

  it('names the files that it touches', () => {
    const named = namedPaths(findRecipe(recipe.title))
    const isNamed = (file: string) =>
      named.some((path) => (path.endsWith('/') ? file.startsWith(path) : file === path))
    expect(touched.get(recipe)?.filter((file) => !isNamed(file))).toEqual([])
  })
})

function namedPaths(text: string): readonly string[] {
  return [...text.matchAll(/(?:`| )((?:src|test|docs|scripts)\/[\w./-]+)[` ]/g)].map(([, path = '']) => path)
}

/** The text of a recipe, from its heading to the next one. */
function findRecipe(title: string): string {
  const [, text] = page.split(`**${title}.**`)
  if (text === undefined) throw new Error(`CONTRIBUTING.md has no recipe "${title}"`)
  return text.split(/\n(?:\*\*|## )/)[0] ?? ''
}
