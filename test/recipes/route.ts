import { expect } from 'vitest'
import type { Recipe } from './scratch.ts'

/** `GET /api/v1/flex/greeting`. */
export const route: Recipe = {
  title: 'Add or change a route',
  apply({ create, insertAfter }) {
    create(
      'src/server/routes/greeting.ts',
      `/** Greets the caller. */
import { text } from '../../domain/schemas/parts.ts'
import type { Route } from '../route.ts'
import { api, ok } from './parts.ts'

const body = { type: 'object', required: ['greeting'], properties: { greeting: text } } as const

export const greet: Route = {
  method: 'GET',
  path: \`\${api}/greeting\`,
  operation: 'greet',
  summary: 'Greet the caller',
  roles: ['caller'],
  replies: { 200: ok('A greeting', body) },
  handle: async ({ caller }) => ({ status: 200, body: { greeting: \`Hello \${caller.name}\` } }),
}
`,
    )
    insertAfter(
      'src/server/route-table.ts',
      "import type { Route } from './route.ts'\n",
      "import { greet } from './routes/greeting.ts'\n",
    )
    insertAfter('src/server/route-table.ts', 'export const coreRoutes: readonly Route[] = [\n', '  greet,\n')
  },
  entries: ['src/index.ts', 'src/server/index.ts'],
  async check({ import: load }) {
    const { createApp } = await load<typeof import('../../src/index.ts')>('src/index.ts')
    const { createServer } = await load<typeof import('../../src/server/index.ts')>('src/server/index.ts')
    const app = await createApp({})
    const server = createServer({ app }, { auth: { token: 'a-token-of-the-test' } })
    try {
      const address = await server.listen({ port: 0 })
      const headers = { authorization: 'Bearer a-token-of-the-test' }
      const answer = await fetch(`${address}/api/v1/flex/greeting`, { headers })
      expect(await answer.json()).toEqual({ greeting: expect.stringMatching(/^Hello /) })
      expect((await fetch(`${address}/api/v1/flex/greeting`)).status).toBe(401)
      const document = await (await fetch(`${address}/openapi.json`)).json()
      expect(document).toMatchObject({
        paths: { '/api/v1/flex/greeting': { get: { operationId: 'greet' } } },
      })
    } finally {
      await server.close()
      await app.close()
    }
  },
}
