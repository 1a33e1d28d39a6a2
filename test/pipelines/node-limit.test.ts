/** The node limit of a plan is an error for `validate` and `run` alike, also beside and inside the body of a map. */
import { expect, it } from 'vitest'
import { readYaml, validatePipeline } from '../../src/pipeline/index.ts'
import { problems } from './support.ts'

const steps = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `${prefix}${index}`, uses: 'wrap_dict', input: 'x' }))
const branches = (count: number) => ({
  kind: 'parallel',
  name: 'both',
  branches: { a: steps('a', count), b: steps('b', count) },
})
const map = (body: readonly object[]) => ({
  kind: 'map',
  name: 'each',
  map: { iterable_input: '{{ input }}', max_items: 10, body },
})

function judge(list: readonly object[]) {
  const text = JSON.stringify({ input_schema: { type: 'array' }, steps: list })
  const read = readYaml(text, 'p.yaml')
  if (!read.ok) throw new Error(JSON.stringify(read.issues))
  const found = validatePipeline(read.document).issues.filter(({ code }) => code === 'pipeline/limit')
  const refused = problems(text, { input: [] }).filter(({ code }) => code === 'pipeline/limit')
  return [found.map(({ severity }) => severity), refused.map(({ message }) => message)]
}

const limit = [['error'], ['the pipeline has more than 1000 nodes']]

it.each([
  ['without a map', [branches(600)]],
  ['beside a map', [map(steps('m', 1)), branches(600)]],
  ['inside the body of a map', [map([branches(600)])]],
  ['together with the body of a map', [map([branches(300)]), branches(300)]],
])('is exceeded %s', (_, list) => {
  expect(judge(list)).toEqual(limit)
})

it('counts the body of a map once, not once per item', () => {
  expect(judge([map([branches(300)])])).toEqual([[], []])
})
