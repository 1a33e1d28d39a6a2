/**
 * What the served processes can do. Every call that changes something outside is a line in the file that EFFECTS_FILE names,
 * written in one go, so that a later reader knows who did what, when, and under which key.
 */
import { appendFileSync, existsSync } from 'node:fs'
import { defineCapability } from 'proviso'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

/** @param {string} said @param {import('proviso').LocalContext} context */
function mark(said, { runId, nodeId, attempt, idempotencyKey: key }) {
  const line = { pid: process.pid, at: Date.now(), runId, nodeId, attempt, key, said }
  appendFileSync(process.env['EFFECTS_FILE'] ?? '', `${JSON.stringify(line)}\n`)
}

/** @param {number} ms @param {AbortSignal} [signal] */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}

/** Not sure enough of its text: a person has to review it. */
export const compose = defineCapability({
  capabilityId: 'compose',
  inputContract: { type: 'object' },
  outputContract: text,
  idempotent: true,
  run: () => ({
    primary_output: JSON.stringify({ text: 'Tea' }),
    confidence: 0.7,
    confidence_type: 'verbalized',
    escalate: false,
  }),
})

/** What must not happen without a person, and not twice. */
export const publish = defineCapability({
  capabilityId: 'publish',
  inputContract: text,
  outputContract: text,
  idempotent: false,
  run(inputs, context) {
    const { text: said } = /** @type {{ text: string }} */ (inputs)
    mark(said, context)
    return { text: said }
  },
})

/** Must not be done twice either. */
export const step = defineCapability({
  capabilityId: 'step',
  inputContract: { type: 'object' },
  outputContract: text,
  idempotent: false,
  async run(_inputs, context) {
    mark('step', context)
    await pause(20)
    return { text: 'Tea' }
  },
})

/** The same, but it takes until the gate is opened. */
export const gated = defineCapability({
  capabilityId: 'gated',
  inputContract: { type: 'object' },
  outputContract: text,
  idempotent: false,
  async run(_inputs, context) {
    mark('gated', context)
    while (!existsSync(`${process.env['EFFECTS_FILE']}.gate`)) await pause(20)
    return { text: 'Tea' }
  },
})

/** The same, and it may be done again: a process that dies leaves it to another. */
export const waits = defineCapability({
  capabilityId: 'waits',
  inputContract: { type: 'object' },
  outputContract: text,
  idempotent: true,
  async run(_inputs, context) {
    mark('waits', context)
    while (!existsSync(`${process.env['EFFECTS_FILE']}.gate`)) await pause(20)
    return { text: 'Tea' }
  },
})

/** The first time longer than any process waits at shutdown. */
export const long = defineCapability({
  capabilityId: 'long',
  inputContract: { type: 'object' },
  outputContract: text,
  idempotent: true,
  async run(_inputs, context) {
    mark('long', context)
    if (context.attempt === 1) await pause(600_000, context.signal)
    return { text: 'Tea' }
  },
})

/** Fails the first time. */
export const flaky = defineCapability({
  capabilityId: 'flaky',
  inputContract: { type: 'object' },
  outputContract: text,
  idempotent: true,
  run(_inputs, context) {
    mark('flaky', context)
    if (context.attempt === 1) throw new Error('Not yet')
    return { text: 'Tea' }
  },
})

/** May be done again, and takes long enough to be interrupted. */
export const slow = defineCapability({
  capabilityId: 'slow',
  inputContract: { type: 'object' },
  outputContract: text,
  idempotent: true,
  async run(_inputs, context) {
    mark('slow', context)
    await pause(800, context.signal)
    return { text: 'Tea' }
  },
})
