/** The process that is killed: runs a map over many items, whose calls leave one line each in a file, once per key. */
import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs'
import { createApp, defineCapability } from '../../src/app.ts'
import { envelope, mapDraft } from './support.ts'

const { store, effects, items } = JSON.parse(process.argv[2] ?? '{}') as {
  readonly store: string
  readonly effects: string
  readonly items: number
}

/** What a receiver that heeds idempotency keys has done. */
const done = new Set(
  existsSync(effects)
    ? readFileSync(effects, 'utf8')
        .split('\n')
        .map((line) => line.split(' ')[0])
    : [],
)

const pay = defineCapability({
  capabilityId: 'pay',
  kind: 'local',
  inputContract: { type: 'object', properties: { value: true }, required: ['value'] },
  outputContract: { type: 'object', properties: { value: true }, required: ['value'] },
  idempotent: true,
  sideEffect: true,
  run: (inputs: unknown, { idempotencyKey }: { readonly idempotencyKey: string }) => {
    const { value } = inputs as { readonly value: number }
    if (!done.has(idempotencyKey)) appendFileSync(effects, `${idempotencyKey} ${value}\n`)
    done.add(idempotencyKey)
    // Written at once, for the parent may kill at any line.
    writeSync(1, `called ${value}\n`)
    return { value: value * 2 }
  },
} as never)

const app = await createApp({ store, capabilities: [pay], pollMs: 100 })
const runId = 'many'
if ((await app.store.head(runId)) === undefined) {
  const list = Array.from({ length: items }, (_, index) => index)
  await app.start(envelope({ items: list }), { runId, draft: mapDraft('pay', { maxItems: items }) })
}
const result = await app.result(runId)
const output = result.output as { readonly out?: readonly number[] } | undefined
const right = output?.out?.every((value, index) => value === index * 2) ?? false
writeSync(1, `ended ${result.status} ${output?.out?.length ?? 0} ${right}\n`)
await app.close()
