/** What a supervisor asks: is the process alive, and should it get requests. */
import type { Route } from '../route.ts'
import type { ServedApp } from '../served.ts'
import { ok } from './parts.ts'

const stands = { type: 'object', required: ['status'], properties: { status: { type: 'string' } } } as const

/** How long the store may take to answer the probe. */
const patienceMs = 2_000

export const livez: Route = {
  method: 'GET',
  path: '/livez',
  operation: 'livez',
  summary: 'The process is alive',
  roles: 'anyone',
  replies: { 200: ok('It is', stands) },
  handle: async () => ({ status: 200, body: { status: 'alive' } }),
}

export const readyz: Route = {
  method: 'GET',
  path: '/readyz',
  operation: 'readyz',
  summary: 'The server takes requests, and its store answers',
  roles: 'anyone',
  replies: { 200: ok('It does', stands), 503: ok('It does not', stands) },
  async handle(_call, { app, isStopping }) {
    if (isStopping?.()) return { status: 503, body: { status: 'stopping' } }
    const answers = await storeAnswers(app)
    return answers ? { status: 200, body: { status: 'ready' } } : { status: 503, body: { status: 'store' } }
  },
}

async function storeAnswers({ store }: ServedApp): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), patienceMs).unref())
  const asked = store.nextWake().then(
    () => true,
    () => false,
  )
  return Promise.race([asked, late])
}
