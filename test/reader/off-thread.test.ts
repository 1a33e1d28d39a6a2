/** The off-thread reader. Its threads load built code, so these tests need `dist`, which `npm test` builds first. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createOffThreadReader, type OffThreadReader } from '../../src/output/thread/off-thread.ts'

const built = new URL('../../dist/output/thread/off-thread.js', import.meta.url)
const workerUrl = new URL('./off-thread-worker.js', built)
if (!existsSync(fileURLToPath(workerUrl))) {
  throw new Error(
    'dist/output/thread/off-thread-worker.js is missing: run `npm run build` first, as `npm test` does',
  )
}

const open: OffThreadReader[] = []
function reader(options: Parameters<typeof createOffThreadReader>[0] = {}): OffThreadReader {
  const created = createOffThreadReader({ deadlineMs: 5_000, workerUrl, ...options })
  open.push(created)
  return created
}
afterAll(async () => {
  await Promise.all(open.map((each) => each.close()))
})

const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } }

/** Within all limits and read in linear time, yet long: only a deadline ends it early. */
const slow = `[${"{'a':[1,2,3]},".repeat(1_000_000)}`

describe('the off-thread reader', () => {
  it('reads as parse does', async () => {
    const { parse } = reader()
    expect(await parse('{"n":3}', schema)).toMatchObject({
      ok: true,
      value: { n: 3 },
      issues: [],
      raw: '{"n":3}',
    })
    expect(await parse('{"n":[]}', schema)).toMatchObject({ ok: false, issues: [{ at: { pointer: '/n' } }] })
    expect(await parse('[1]')).toMatchObject({ ok: true, value: [1] })
  })

  it('finds its threads by itself where it is installed', async () => {
    const loaded: typeof import('../../src/output/thread/off-thread.ts') = await import(built.href)
    const { parse, close } = loaded.createOffThreadReader({ deadlineMs: 5_000 })
    expect(await parse('{"n":3}', schema)).toMatchObject({ ok: true, value: { n: 3 } })
    await close()
  })

  it('answers many at once, each with its own', async () => {
    const { parse } = reader({ workers: 2 })
    const results = await Promise.all(Array.from({ length: 200 }, (_, n) => parse(`{"n":${n}}`, schema)))
    expect(results.map((result) => result.ok && (result.value as { n: number }).n)).toEqual(
      results.map((_, n) => n),
    )
  })

  it('stops at the deadline, says so, and continues with the next', async () => {
    const { parse } = reader({ deadlineMs: 200 })
    await parse('1')
    const start = performance.now()
    const result = await parse(slow)
    expect(performance.now() - start).toBeLessThan(5_000)
    expect(result).toMatchObject({ ok: false, issues: [{ code: 'limit/deadline' }], repairs: [], raw: slow })
    expect(await parse('{"n":3}', schema)).toMatchObject({ ok: true })
  })

  it('keeps the main thread free meanwhile', async () => {
    const { parse } = reader({ deadlineMs: 500 })
    await parse('1')
    let longest = 0
    let last = performance.now()
    const beat = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 5)
    await parse(slow)
    clearInterval(beat)
    expect(longest).toBeLessThan(500)
  })

  it('stops at the memory limit, says so, and continues with the next', async () => {
    const { parse } = reader({ memoryMb: 32, deadlineMs: 30_000 })
    const text = `[${'{"a":[1,2,3]},'.repeat(1_000_000)}1]`
    expect(await parse(text)).toMatchObject({ ok: false, issues: [{ code: 'limit/memory' }] })
    expect(await parse('{"n":3}', schema)).toMatchObject({ ok: true })
  })

  it('stops when it is aborted, waiting or working', async () => {
    const { parse } = reader({ deadlineMs: 30_000 })
    await parse('1')
    const working = new AbortController()
    const waiting = new AbortController()
    const first = parse(slow, undefined, {}, { signal: working.signal })
    const second = parse('1', undefined, {}, { signal: waiting.signal })
    const third = parse('2')
    waiting.abort(new Error('no longer wanted'))
    await expect(second).rejects.toMatchObject({ code: 'aborted', cause: { message: 'no longer wanted' } })
    // The thread was idle, so it has had the first request since it was made.
    working.abort()
    await expect(first).rejects.toMatchObject({ code: 'aborted' })
    expect(await third).toMatchObject({ value: 2 })
    await expect(parse('1', undefined, {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'aborted',
    })
  })

  it('refuses more than may wait', async () => {
    const { parse } = reader({ waiting: 2 })
    const results = await Promise.allSettled([parse('1'), parse('2'), parse('3')])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(results[2]).toMatchObject({ reason: { code: 'pool/full', fate: 'retry' } })
  })

  it('takes schemas for untrusted unless an option says otherwise', async () => {
    const { parse } = reader()
    const lookahead = { pattern: '^(?=a)' }
    expect(await parse('"a"', lookahead)).toMatchObject({
      ok: false,
      issues: [{ code: 'schema/limit', at: { pointer: '/pattern' } }],
    })
    expect(await parse('"a"', lookahead, { untrusted: false })).toMatchObject({ ok: true })
  })

  it('reports whether a schema can be used, and its hash', async () => {
    const { compile } = reader()
    expect(await compile(schema)).toEqual({ ok: true, hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(await compile({ type: 'nonsense' })).toMatchObject({
      ok: false,
      issues: [{ code: 'schema/invalid', at: { pointer: '/type' } }],
    })
    const wide = { enum: Array.from({ length: 1_000_000 }, (_, i) => i) }
    expect(await compile(wide)).toMatchObject({ ok: false, issues: [{ code: 'schema/limit' }] })
  })

  it('takes the JSON Schema that Zod makes, which carries a validator out of sight', async () => {
    const made = z.toJSONSchema(z.object({ age: z.int() }))
    expect(await reader().parse('{"age": "36"}', made)).toMatchObject({ ok: true, value: { age: 36 } })
  })

  it('says clearly what cannot cross to a thread', async () => {
    const { parse } = reader()
    const invalid = { code: 'option/invalid' }
    await expect(parse('1', z.number())).rejects.toMatchObject(invalid)
    await expect(parse('1', schema, { onEvent: () => undefined })).rejects.toMatchObject(invalid)
    await expect(parse('1', schema, { stages: [] })).rejects.toMatchObject(invalid)
    await expect(parse('1', { default: () => 1 })).rejects.toMatchObject(invalid)
    expect(() => createOffThreadReader({ workers: 0 })).toThrow('workers must be a number above 0')
  })

  it('lets idle threads go, and starts them again when needed', async () => {
    const { parse } = reader({ idleMs: 20 })
    expect(await parse('1')).toMatchObject({ value: 1 })
    const ended = vi.spyOn(Worker.prototype, 'terminate')
    await vi.waitFor(() => expect(ended).toHaveBeenCalled(), { timeout: 30_000 })
    ended.mockRestore()
    expect(await parse('2')).toMatchObject({ value: 2 })
  })

  it('rejects when its threads cannot start, instead of waiting for ever', async () => {
    const { parse } = reader({ workerUrl: new URL('./no-such-file.js', import.meta.url) })
    await expect(parse('1')).rejects.toMatchObject({ code: 'pool/broken' })
  })

  it('rejects what was not answered when it is closed, and everything after', async () => {
    const { parse, close } = reader({ deadlineMs: 30_000 })
    const pending = [parse(slow), parse('1')].map((each) =>
      expect(each).rejects.toMatchObject({ code: 'pool/closed' }),
    )
    await close()
    await Promise.all(pending)
    await expect(parse('1')).rejects.toMatchObject({ code: 'pool/closed' })
  })
})
