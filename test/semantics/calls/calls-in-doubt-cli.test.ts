/** The command says which calls may have taken effect, when a run ends and whenever it is shown. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { file, pathInFolder, runFile } from '../../cli/run-support.ts'
import { proviso, root } from '../../support.ts'

/** A payment that changes the world, and a note that does not: without an amount, only the note can be planned. */
const bank = (
  answer: string,
) => `import { defineCapability } from ${JSON.stringify(join(root, 'dist/index.js'))}
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const sum = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] }
const common = { outputContract: text, idempotent: false }
export const pay = defineCapability({ ...common, capabilityId: 'bank.pay', inputContract: sum, sideEffect: true, run: () => ${answer} })
export const note = defineCapability({ ...common, capabilityId: 'bank.note', inputContract: { type: 'object' }, run: () => ({ text: 'Noted' }) })
`
const given = {
  envelope: {
    ...runFile().envelope,
    policies: {
      planner: { directives: { sideEffects: 'allow' } },
      runtime: [{ id: 'again', trigger: { kind: 'onTimeout', ms: 1_500 }, action: { type: 'replan' } }],
    },
  },
  draft: { nodes: [{ id: 'pay', capabilityId: 'bank.pay', inputs: { amount: { value: 5 } } }] },
}

it('`run` and `show` name a call that no node of the new plan makes again', async () => {
  const use = ['--use', file('bank.mjs', bank('new Promise(() => {})'))]
  const store = ['--store', `sqlite:${pathInFolder('doubt.db')}`]
  const done = await proviso(['run', file('pay.json', given), '--run-id', 'r', ...use, ...store])
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('Noted') })
  const said = 'the call of "pay" (bank.pay, plan 1) may have taken effect, and no node made it again'
  expect(done.stderr).toContain(`in doubt: ${said}`)
  const page = await proviso(['show', 'r', ...store])
  expect(page.stdout).toMatch(/^in doubt {3}the call of "pay" \(bank\.pay, plan 1\) may have taken effect/m)
  const json = JSON.parse((await proviso(['show', 'r', '--json', ...store])).stdout)
  expect(json.inDoubt).toMatchObject([
    {
      nodeId: 'pay',
      capabilityId: 'bank.pay',
      attempt: 1,
      planVersion: 1,
      idempotencyKey: expect.any(String),
    },
  ])
})

it('nothing is in doubt where the call was answered', async () => {
  const use = ['--use', file('fine.mjs', bank("({ text: 'Paid' })"))]
  const store = ['--store', `sqlite:${pathInFolder('fine.db')}`]
  const done = await proviso(['run', file('fine.json', given), '--run-id', 'r', ...use, ...store])
  expect(done).toMatchObject({ code: 0 })
  expect(done.stderr).not.toContain('in doubt')
  expect((await proviso(['show', 'r', ...store])).stdout).not.toContain('in doubt')
})
