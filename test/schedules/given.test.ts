/** What a program passes to schedules and threads is checked and typed like a run: no misspelled key is ignored. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createClient } from '../../src/client/index.ts'
import { defineCapability } from '../../src/index.ts'
import { open } from '../journeys/support.ts'
import { flexToken, serve } from '../server/support.ts'

const Line = z.object({ text: z.string() })
const write = defineCapability({
  id: 'write',
  input: z.object({}),
  output: Line,
  run: () => ({ text: 'Tea' }),
})
const draft = { nodes: [{ id: 'w', capabilityId: 'write' }] }
const work = { envelope: { objective: 'A line', output: Line }, draft }
const daily = { cron: '0 7 * * *', ...work }
const key = { tenant: 'default', threadId: 't' }

describe('a schedule of a program', () => {
  it('takes `output` and `approve` as a run does', async () => {
    const app = await open({ capabilities: [write] })
    const approved = { ...work.envelope, approve: 'final' as const }
    const added = await app.schedules.add({ scheduleId: 's', ...daily, envelope: approved })
    expect(added.envelope).toMatchObject({
      outputContract: { schema: { type: 'object' } },
      policies: { planner: { directives: { askBeforeFinish: true } } },
    })
    const changed = await app.schedules.change('s', { envelope: { objective: 'Two lines', output: Line } })
    expect(changed.envelope).toMatchObject({ objective: 'Two lines', outputContract: {} })
  })

  it.each([
    ['timezone', 'Europe/Berlin', 'timeZone'],
    ['overlapp', 'skip', 'overlap'],
    ['envelop', {}, 'envelope'],
  ])('with the misspelled key %s is refused with a suggestion', async (name, value, meant) => {
    const app = await open({ capabilities: [write] })
    const refused = { code: 'option/invalid', hint: `Did you mean "${meant}"?` }
    await expect(app.schedules.add({ ...daily, [name]: value })).rejects.toMatchObject(refused)
    await app.schedules.add({ scheduleId: 's', ...daily })
    await expect(app.schedules.change('s', { [name]: value })).rejects.toMatchObject(refused)
    expect(await app.schedules.list()).toHaveLength(1)
  })

  it('with `paused` is refused with the names that it has', async () => {
    const app = await open({ capabilities: [write] })
    const refused = { hint: expect.stringContaining('isPaused') }
    await expect(app.schedules.add({ ...daily, ...{ paused: true } })).rejects.toMatchObject(refused)
  })

  it('does not compile with an envelope of another shape', async () => {
    const app = await open({ capabilities: [write] })
    const wrong = [
      // @ts-expect-error: no objective and no schema
      app.schedules.add({ cron: '* * * * *', envelope: { nonsense: true } }),
      // @ts-expect-error: a draft is an object
      app.schedules.add({ ...daily, draft: 3 }),
      // @ts-expect-error: no member of an envelope
      app.threads.say(key, { message: 'm', envelope: { nonsense: true } }),
    ]
    for (const each of wrong) await expect(each).rejects.toThrow()
  })
})

describe('a message of a program', () => {
  it('takes `output` as a run does; without an objective the message is it', async () => {
    const app = await open({ capabilities: [write] })
    const { runId } = await app.threads.say(key, { message: 'A line', envelope: { output: Line }, draft })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    // The same message again is the same run.
    const again = { runId, message: 'A line', envelope: { output: Line }, draft }
    expect(await app.threads.say(key, again)).toEqual({ runId, status: 'started' })
  })

  it('with a misspelled key is refused with a suggestion', async () => {
    const app = await open({ capabilities: [write] })
    const said = { message: 'm', ...work, ...{ whenbusy: 'reject' } }
    await expect(app.threads.say(key, said)).rejects.toMatchObject({
      code: 'option/invalid',
      hint: 'Did you mean "whenBusy"?',
    })
    expect(await app.threads.get(key)).toBeUndefined()
  })
})

describe('a client', () => {
  it('proves, schedules and says what a run is started with, and types the answer', async () => {
    const { address } = await serve({ capabilities: [write] })
    const client = createClient({ url: address, token: flexToken })
    expect(await client.prove(work.envelope, { draft })).toMatchObject({ accepted: true })
    const added = await client.schedules.create(daily)
    expect(added.envelope).toMatchObject({ outputContract: { schema: { type: 'object' } } })
    const changed = await client.schedules.change(added.scheduleId, {
      envelope: { ...work.envelope, objective: 'Two lines', approve: 'final' },
    })
    expect(changed.envelope).toMatchObject({ objective: 'Two lines', policies: { planner: {} } })
    const upper = Line.extend({ text: z.string().transform((text) => text.toUpperCase()) })
    const said = await client.threads.say('t', 'A line', { envelope: { output: upper }, draft })
    const { text } = await said.run.output()
    expect(text satisfies string).toBe('TEA')
  })
})
