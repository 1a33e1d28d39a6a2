/** Sign-in at an identity provider, in Chromium: redirect, return to the page that was asked for, and nothing kept beyond the tab. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openIdentityProvider } from '../server/identity-provider.ts'
import {
  closeConsole,
  openConsole,
  type ServedConsole,
  serveConsole,
  skipped,
  useBrowser,
} from './support.ts'

describe.skipIf(skipped)('sign-in with an identity provider', () => {
  useBrowser()
  let served: ServedConsole
  let provider: Awaited<ReturnType<typeof openIdentityProvider>>
  beforeAll(async () => {
    provider = await openIdentityProvider()
    const jwt = { issuer: provider.issuer, audience: 'console', allowLoopback: true }
    served = await serveConsole({}, { auth: { jwt, signIn: { clientId: 'console' } } })
  })
  afterAll(async () => {
    await served?.close()
    provider?.close()
  })
  const button = 'Sign in with your organisation'

  it('goes there, comes back to the same page, and survives a reload of the tab', async () => {
    const opened = await openConsole(served.address, { path: '/capabilities' })
    const { page, context } = opened
    await page.getByRole('button', { name: button }).click()
    await page.getByRole('heading', { name: 'Capabilities' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/capabilities')
    expect(await page.getByTestId('who').textContent()).toContain('ann')
    const asked = provider.state.asked.at(-1)
    expect(asked?.get('code_challenge_method')).toBe('S256')
    expect(asked?.get('redirect_uri')).toBe(`${served.address}/sign-in`)
    expect(page.url()).not.toContain('code=')
    expect(await page.evaluate('JSON.stringify(localStorage)')).toBe('{}')
    expect(await page.evaluate('Object.keys(sessionStorage).join()')).toBe('proviso.token')
    expect(await context.cookies()).toEqual([])
    await page.reload()
    await page.getByRole('heading', { name: 'Capabilities' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: button }).waitFor()
    await closeConsole(opened)
  })

  it('refuses an answer that this tab did not ask for, and shows what the provider refuses', async () => {
    const opened = await openConsole(served.address, { path: '/sign-in?code=stolen&state=made-up' })
    const { page } = opened
    await page.getByRole('alert').getByText('not started here').waitFor()
    provider.state.refuses = true
    await page.getByRole('button', { name: button }).click()
    await page.getByRole('alert').getByText('access_denied').waitFor()
    provider.state.refuses = false
    provider.state.claims = { roles: ['guest'] }
    await page.getByRole('button', { name: button }).click()
    await page.getByRole('alert').getByText('has no role of this server').waitFor()
    provider.state.claims = {}
    await closeConsole(opened)
  })
})
