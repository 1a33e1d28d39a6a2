/** Who gets in: the program of the page, the token of the environment, a token of the options, a function that verifies. */
import { describe, expect, it } from 'vitest'
import { createServer, createToken, type ServerOptions } from '../../src/server/index.ts'
import { wrongly } from '../wrongly.ts'
import { api, flexToken, open, serve, start, tea } from './support.ts'

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A server on an app of its own, without anything that the tests of routes take for granted. */
async function listen(options: ServerOptions, env: { readonly flexToken?: string } = {}) {
  const app = await open({ ...tea, env })
  const server = createServer({ app, ...options })
  const address = await server.listen({ port: 0 })
  const list = (token: string) => fetch(`${address}${api}/runs`, { headers: bearer(token) })
  return { app, server, address, list, [Symbol.asyncDispose]: () => server.close({ graceMs: 0 }) }
}

describe('a server', () => {
  it('does not listen if no request could authenticate, and names what to do', async () => {
    const app = await open({ ...tea, env: {} })
    const server = createServer({ app })
    await expect(server.listen({ port: 0 })).rejects.toMatchObject({
      message: 'Cannot listen: no token exists, so no request can authenticate',
      hint: expect.stringContaining('`auth: { token }`'),
    })
    await createToken(app.store.records.tokens, { tenant: 'default', role: 'caller', name: 'me' })
    await server.listen({ port: 0 })
    await server.close({ graceMs: 0 })
  })

  it('accepts the token of its options, and no other', async () => {
    await using served = await listen(
      { auth: { token: flexToken } },
      { flexToken: 'token-of-the-environment' },
    )
    expect((await served.list(flexToken)).status).toBe(200)
    expect((await served.list('token-of-the-environment')).status).toBe(401)
  })

  it('accepts FLEX_TOKEN of the environment of its app', async () => {
    await using served = await listen({}, { flexToken: 'token-of-the-environment' })
    expect((await served.list('token-of-the-environment')).status).toBe(200)
    expect((await served.list(flexToken)).status).toBe(401)
  })

  it('refuses a token that is too short', async () => {
    const app = await open({ ...tea, env: { flexToken: 'short' } })
    for (const auth of [{}, { token: 'short' }])
      expect(() => createServer({ app, auth })).toThrow('must have at least 16 characters')
  })

  it('refuses what is not an app, and a misspelled option, with what was meant', async () => {
    const app = await open(tea)
    expect(() => createServer(wrongly(app))).toThrow('`app` is not an app')
    const misspelled = () => createServer({ app, auth: wrongly({ tokn: flexToken }) })
    expect(misspelled).toThrow('/auth/tokn is not an option')
    expect(misspelled).toThrow(expect.objectContaining({ hint: 'Did you mean "token"?' }))
  })
})

describe('auth.verify', () => {
  it('says who calls: name, role and tenant count everywhere', async () => {
    await using served = await listen({
      auth: {
        verify: (token) =>
          token === 'jwt-of-ann' ? { name: 'ann', role: 'caller', tenant: 'acme' } : undefined,
      },
    })
    const begun = await fetch(`${served.address}${api}/runs?wait=10`, {
      method: 'POST',
      headers: { ...bearer('jwt-of-ann'), 'content-type': 'application/json' },
      body: JSON.stringify(start()),
    })
    const { runId } = (await begun.json()) as { runId: string }
    expect((await served.app.store.head(runId))?.tenant).toBe('acme')
    expect((await served.list('jwt-of-bob')).status).toBe(401)
    const asks = await fetch(`${served.address}${api}/hitl`, { headers: bearer('jwt-of-ann') })
    expect(asks.status).toBe(403)
  })

  it('does not see tokens of the store, which keep working', async () => {
    const seen: string[] = []
    await using served = await listen({ auth: { verify: (token) => void seen.push(token) } })
    const { token } = await createToken(served.app.store.records.tokens, {
      tenant: 'default',
      role: 'caller',
      name: 'me',
    })
    expect((await served.list(token)).status).toBe(200)
    expect((await served.list('pvs_unknown')).status).toBe(401)
    expect(seen).toEqual([])
  })

  it('that throws refuses the request and reports the cause', async () => {
    const causes: unknown[] = []
    const verify = () => Promise.reject(new Error('signature of the web token is wrong'))
    await using served = await listen({ auth: { verify }, onError: (cause) => void causes.push(cause) })
    const refused = await served.list('jwt-of-mallory')
    expect(refused.status).toBe(401)
    expect(await refused.text()).not.toContain('signature')
    expect(causes).toMatchObject([{ message: 'signature of the web token is wrong' }])
  })

  it('that returns a role that does not exist lets no one in', async () => {
    const verify = () => ({ name: 'ann', role: 'king' as 'admin' })
    const causes: unknown[] = []
    await using served = await listen({ auth: { verify }, onError: (cause) => void causes.push(cause) })
    expect((await served.list('jwt-of-ann')).status).toBe(401)
    expect(causes).toMatchObject([
      { message: expect.stringContaining('must return `{ name, role, tenant?, taskRoles? }`') },
    ])
  })
})

describe('the second argument', () => {
  it('still takes options', async () => {
    const { call } = await serve(tea)
    expect((await call(`${api}/runs`)).status).toBe(200)
  })
})
