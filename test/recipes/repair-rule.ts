import { expect } from 'vitest'
import type { Recipe } from './scratch.ts'

/** The word `nothing` where a value belongs is read as null. */
export const repairRule: Recipe = {
  title: 'Add a repair rule',
  apply({ insertAfter }) {
    insertAfter('src/output/rules.ts', '    literal: 1,\n', "    'empty-word': 1,\n")
    insertAfter(
      'src/output/report/rule-table.ts',
      "  literal: 'a literal of another language was translated',\n",
      "  'empty-word': 'a word for an empty value became null',\n",
    )
    insertAfter(
      'src/output/decode/unquoted.ts',
      "  ['None Null NULL nil', { kind: 'null', rule: 'literal' }],\n",
      "  ['nothing', { kind: 'null', rule: 'empty-word' }],\n",
    )
  },
  entries: ['src/output/index.ts'],
  async check({ import: load }) {
    const { parse, replay } = await load<typeof import('../../src/output/index.ts')>('src/output/index.ts')
    const text = '{"a": nothing}'
    const result = parse(text)
    expect(result).toMatchObject({ ok: true, value: { a: null }, repairs: [{ rule: 'empty-word' }] })
    if (result.ok) expect(replay(text, result.repairs)).toEqual({ a: null })
  },
}
