/** `proviso serve` accepts JSON web tokens as its settings say, without any other token. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { expect, it } from 'vitest'
import { api } from '../server/support.ts'
import { requireBuild, root } from '../support.ts'
import { listening } from './listening.ts'

const secret = 'a shared secret of more than 32 characters'

it('accepts JSON web tokens as the settings say', async () => {
  requireBuild()
  const child = spawn(
    process.execPath,
    [join(root, 'dist/cli/main.js'), 'serve', '--port', '0', '--store', 'memory:'],
    {
      env: {
        ...process.env,
        NO_COLOR: '1',
        FLEX_TOKEN: '',
        PROVISO_AUTH_ISSUER: 'https://login.example',
        PROVISO_AUTH_AUDIENCE: 'proviso,other',
        PROVISO_AUTH_ROLES_CLAIM: 'groups',
        PROVISO_AUTH_ROLES: 'leads=operator,staff=caller',
        PROVISO_AUTH_TENANT_CLAIM: 'org',
        PROVISO_AUTH_SECRET: secret,
      },
    },
  )
  try {
    const { address } = await listening(child)
    const ask = async (groups: string[], path: string) => {
      const token = await new SignJWT({ sub: 'ann', org: 'acme', groups })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer('https://login.example')
        .setAudience('proviso')
        .setExpirationTime('1h')
        .sign(new TextEncoder().encode(secret))
      const response = await fetch(`${address}${api}${path}`, {
        headers: { authorization: `Bearer ${token}` },
      })
      await response.body?.cancel()
      return response.status
    }
    const answers = [
      await ask(['staff'], '/runs'),
      await ask(['staff'], '/hitl'),
      await ask(['leads'], '/hitl'),
    ]
    expect([...answers, await ask(['guests'], '/runs')]).toEqual([200, 403, 200, 403])
  } finally {
    child.kill('SIGKILL')
  }
})
