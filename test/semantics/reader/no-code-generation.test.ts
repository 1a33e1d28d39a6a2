/** The reader works where code must not be generated from text, as in Workers and under a strict content security policy. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { requireBuild, root } from '../../support.ts'

const program = (module: string) => `
  import { parse } from ${JSON.stringify(module)}
  const refused = (() => { try { new Function('') } catch (error) { return error.name } })()
  const schema = {
    type: 'object',
    properties: { id: { type: 'integer', minimum: 1 }, mail: { type: 'string', format: 'email' },
      tags: { type: 'array', items: { enum: ['a', 'b'] }, minItems: 1 } },
    required: ['id', 'tags'],
    additionalProperties: false,
  }
  let good = 0
  for (let i = 0; i < 2_000; i++) if (parse('{"id": 3, "tags": ["a"]}', schema).ok) good++
  const broken = parse("Sure: {id: '3', tags: ['A'],}", schema)
  const wrong = parse('{"id": 0, "tags": [], "mail": "x"}', schema)
  const untrusted = parse('{"a": "aaaa"}', { properties: { a: { pattern: '^(a+)+$' } } }, { untrusted: true })
  console.log(JSON.stringify({ refused, good, broken: broken.value,
    wrong: wrong.issues.map(({ code, at }) => code + ' ' + at.pointer), untrusted: untrusted.ok }))
`

it('validates constraints without code generation, however often a schema is used', async () => {
  requireBuild()
  const module = pathToFileURL(join(root, 'dist', 'output', 'index.js')).href
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--disallow-code-generation-from-strings',
    '--input-type=module',
    '--eval',
    program(module),
  ])
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({
    refused: 'EvalError',
    good: 2_000,
    broken: { id: 3, tags: ['a'] },
    wrong: ['schema/minimum /id', 'schema/format /mail', 'schema/minItems /tags'],
    untrusted: true,
  })
})
