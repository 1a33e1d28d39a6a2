/** The reference of envelopes is true: its examples are accepted, and its table of flat policies is the code's. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { flatPolicies, parseEnvelope } from '../seams/domain.ts'
import { root } from '../support.ts'

const page = readFileSync(join(root, 'docs/reference/envelope.md'), 'utf8')

it('shows an envelope that is accepted without a warning', () => {
  const [, block = ''] = /```json\n(\{\n {2}"objective"[\s\S]*?)```/.exec(page) ?? []
  expect(parseEnvelope(JSON.parse(block))).toMatchObject({ ok: true, warnings: [] })
})

it('lists every flat policy with its new form', () => {
  for (const [name, { becomes }] of Object.entries(flatPolicies)) {
    expect(page).toContain(`| \`${name}\` | \`${becomes}\` |`)
  }
})
