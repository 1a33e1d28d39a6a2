/** What every mount of a server must do: the suite over ports, frameworks and handlers. */
import { describe, expect, it } from 'vitest'
import { api, approved, frames, readFrames, start } from './support.ts'

/**
 * A server whose capabilities are `write` (the text "Tea"), `large` (200,000 times "x"), and `slow`, which waits for `finish`.
 */
export interface Mounted extends AsyncDisposable {
  readonly send: (path: string, init?: RequestInit) => Promise<Response>
  /** Lets the capability `slow` return. */
  finish(): Promise<void> | void
  /** Number of event streams that the server has open. */
  streams(): Promise<number> | number
  /** Resolves when the run has ended. */
  result(runId: string): Promise<unknown>
}

/** Defines the tests of a mount; every test mounts anew. */
export function describeMount(name: string, mount: () => Promise<Mounted>, token: string): void {
  const authorization = `Bearer ${token}`
  const post = (body: unknown): RequestInit => ({
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const get = (headers = {}): RequestInit => ({ headers: { authorization, ...headers } })

  describe(`mounted as ${name}`, () => {
    it('starts a run and answers with its output', async () => {
      await using served = await mount()
      const begun = await served.send(`${api}/runs?wait=10`, post(start()))
      expect(begun.status).toBe(200)
      expect(begun.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(await begun.json()).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    })

    it('refuses with problems: no token, a wrong body, a route that is not there', async () => {
      await using served = await mount()
      const refused = await served.send(`${api}/runs`)
      expect(refused.status).toBe(401)
      expect(refused.headers.get('content-type')).toContain('application/problem+json')
      expect(await refused.json()).toMatchObject({ code: 'auth/missing' })
      const invalid = await served.send(`${api}/hitl/resolve`, post({ requestId: 1 }))
      expect(await invalid.json()).toMatchObject({ status: 422, code: 'request/invalid' })
      expect((await served.send(`${api}/nothing`, get())).status).toBe(404)
    })

    it('refuses a body that is too large', async () => {
      await using served = await mount()
      const large = await served.send(`${api}/runs`, post({ objective: 'x'.repeat(1_100_000) })).catch(String)
      // The connection may be closed while the rest of the body is still being sent.
      expect(typeof large === 'string' ? 413 : large.status).toBe(413)
    })

    it('streams events while they happen, and later all again with 204 at the end', async () => {
      await using served = await mount()
      const slow = { nodes: [{ id: 'write', capabilityId: 'slow' }] }
      const stream = await served.send(`${api}/run.stream`, post(start({}, slow)))
      expect(stream.headers.get('content-type')).toBe('text/event-stream')
      const seen = []
      for await (const frame of readFrames(stream)) {
        seen.push(frame)
        if (frame.type === 'attempt_start') await served.finish()
      }
      expect(seen.map(({ id }) => id)).toEqual(seen.map((_, index) => index + 1))
      const { runId, id } = seen.at(-1)!
      const events = `${api}/runs/${runId}/events`
      const again = await served.send(events, get({ accept: 'text/event-stream' }))
      expect(await frames(again)).toEqual(seen)
      const over = await served.send(
        events,
        get({ accept: 'text/event-stream', 'last-event-id': String(id) }),
      )
      expect([over.status, await over.text()]).toEqual([204, ''])
    })

    it('streams frames that are larger than any buffer', async () => {
      await using served = await mount()
      const large = { nodes: [{ id: 'write', capabilityId: 'large' }] }
      const all = await frames(await served.send(`${api}/run.stream`, post(start({}, large))))
      expect(all.at(-1)).toMatchObject({
        type: 'complete',
        payload: { output: { text: 'x'.repeat(200_000) } },
      })
    })

    it('ends a stream whose client is gone, and the run continues', async () => {
      await using served = await mount()
      const slow = { nodes: [{ id: 'write', capabilityId: 'slow' }] }
      const stream = await served.send(`${api}/run.stream`, post(start({}, slow)))
      const runId = stream.headers.get('proviso-run-id') ?? ''
      const reader = stream.body!.getReader()
      await reader.read()
      expect(await served.streams()).toBe(1)
      await reader.cancel()
      await expect.poll(() => served.streams(), { timeout: 10_000 }).toBe(0)
      await served.finish()
      expect(await served.result(runId)).toMatchObject({ status: 'completed' })
    })

    it('answers methods that a route does not have with 405', async () => {
      await using served = await mount()
      for (const method of ['HEAD', 'OPTIONS', 'PUT'])
        expect((await served.send(`${api}/runs`, { ...get(), method })).status, method).toBe(405)
    })

    it('ends a stream when its request is aborted, and the run continues', async () => {
      await using served = await mount()
      const slow = { nodes: [{ id: 'write', capabilityId: 'slow' }] }
      const end = new AbortController()
      const stream = await served.send(`${api}/run.stream`, { ...post(start({}, slow)), signal: end.signal })
      const runId = stream.headers.get('proviso-run-id') ?? ''
      const reader = stream.body!.getReader()
      await reader.read()
      end.abort()
      await reader.closed.catch(() => {})
      await expect.poll(() => served.streams(), { timeout: 10_000 }).toBe(0)
      await served.finish()
      expect(await served.result(runId)).toMatchObject({ status: 'completed' })
    })

    it('records a decision', async () => {
      await using served = await mount()
      const begun = await served.send(`${api}/runs?wait=10`, post(start(approved)))
      const { runId } = (await begun.json()) as { runId: string }
      const listed = await served.send(`${api}/hitl?runId=${runId}`, get())
      const { asks } = (await listed.json()) as { asks: { requestId: string; valueHash: string }[] }
      const { requestId, valueHash } = asks[0]!
      const body = { requestId, valueHash, decision: 'approve' }
      expect((await served.send(`${api}/hitl/resolve`, post(body))).status).toBe(200)
      expect(await served.result(runId)).toMatchObject({ status: 'completed' })
    })
  })
}
