/** The process that is killed: runs a map over many items or a loop of many rounds, whose calls leave one line each in a file, once per key. */
import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs'
import { createApp, defineCapability } from '../../src/index.ts'

import { envelope, loopDraft, mapDraft, type Task, toRunId } from './support.ts'

const { store, effects, items, shape } = JSON.parse(process.argv[2] ?? '{}') as Task

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
    return { value: shape === 'loop' ? value + 1 : value * 2 }
  },
})

const app = await createApp({ store, capabilities: [pay], pollMs: 100, leaseMs: 3_000 })
const runId = toRunId(shape)
if ((await app.store.head(runId)) === undefined) {
  const list = Array.from({ length: items }, (_, index) => index)
  const started = shape === 'loop' ? { first: { value: 0 } } : { items: list }
  const draft =
    shape === 'loop' ? loopDraft('pay', { maxRounds: items }) : mapDraft('pay', { maxItems: items })
  await app.start(envelope(started), { runId, draft })
}
const result = await app.result(runId)
const { out } = (result.output ?? {}) as { readonly out?: readonly number[] | { readonly value: number } }
const right = Array.isArray(out)
  ? out.length === items && out.every((value, index) => value === index * 2)
  : (out as { readonly value?: number } | undefined)?.value === items
writeSync(1, `ended ${result.status} ${right}\n`)
await app.close()
