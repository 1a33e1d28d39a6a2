/** Trust belongs to an app: two apps in one process use different regex engines for the same schema. */
import { afterEach, expect, it } from 'vitest'
import { type App, createApp, defineCapability } from '../../src/index.ts'
import { createServer } from '../../src/server/index.ts'
import { scripted } from '../pipelines/support.ts'

/** Exponential in the native engine, linear in re2js. */
const pattern = '^(a+)+$'
/** The native engine takes longer than the time limit of a test to reject it. */
const attack = `${'a'.repeat(60)}!`
const schema = {
  type: 'object',
  required: ['text'],
  properties: { text: { type: 'string', pattern } },
} as const

const write = defineCapability({
  capabilityId: 'write',
  kind: 'local',
  inputContract: { type: 'object', properties: { text: { type: 'string' } } },
  outputContract: schema,
  run: (inputs) => ({ text: String((inputs as { text?: string }).text) }),
})
const answer = defineCapability({
  capabilityId: 'answer',
  kind: 'model',
  preferredModels: ['test/m'],
  inputContract: { type: 'object' },
  outputContract: schema,
})

const apps: App[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close()
})

async function open(text: string, untrustedSchemas: boolean): Promise<App> {
  const app = await createApp({
    env: {},
    providers: [scripted(() => JSON.stringify({ text }))],
    capabilities: [write, answer],
    untrustedSchemas,
  })
  apps.push(app)
  return app
}

/** Runs one node, and counts how often the native engine matched the pattern meanwhile. */
async function run(app: App, capabilityId: string, text: string) {
  const { test } = RegExp.prototype
  let native = 0
  RegExp.prototype.test = function (given) {
    if (this.source === pattern) native++
    return test.call(this, given)
  }
  try {
    const { status } = await app.run(
      { objective: 'x', inputs: { text }, outputContract: { mode: 'json_schema', schema, constraints: [] } },
      { draft: { nodes: [{ id: 'n', capabilityId, callBudget: 1 }], output: { node: 'n' } } },
    )
    return { status, isNative: native > 0 }
  } finally {
    RegExp.prototype.test = test
  }
}

const kinds = ['write', 'answer']
const trusted = { status: 'completed', isNative: true }
const untrusted = { status: 'failed', isNative: false }

it.each(kinds)('%s: a trusted app, then an untrusted one', async (kind) => {
  const [first, second] = [await open('aaa', false), await open(attack, true)]
  expect(await run(first, kind, 'aaa')).toEqual(trusted)
  expect(await run(second, kind, attack)).toEqual(untrusted)
  expect(await run(first, kind, 'aaa')).toEqual(trusted)
})

it.each(kinds)('%s: an untrusted app, then a trusted one', async (kind) => {
  const [first, second] = [await open(attack, true), await open('aaa', false)]
  expect(await run(first, kind, attack)).toEqual(untrusted)
  expect(await run(second, kind, 'aaa')).toEqual(trusted)
  expect(await run(first, kind, attack)).toEqual(untrusted)
})

it('a server makes its own app untrusted, and no other', async () => {
  const [served, other] = [await open(attack, false), await open('aaa', false)]
  createServer({ app: served })
  for (const kind of kinds) {
    expect(await run(served, kind, attack)).toEqual(untrusted)
    expect(await run(other, kind, 'aaa')).toEqual(trusted)
  }
})

it('patterns that only the native engine can express are refused in envelopes of both apps', async () => {
  const lookahead = { ...schema, properties: { text: { type: 'string', pattern: '^(?=a)' } } }
  const envelope = {
    objective: 'x',
    inputs: {},
    outputContract: { mode: 'json_schema', schema: lookahead, constraints: [] },
  }
  for (const isUntrusted of [true, false]) {
    const app = await open('aaa', isUntrusted)
    await expect(app.start(envelope as never)).rejects.toMatchObject({ code: 'envelope/invalid' })
  }
})
