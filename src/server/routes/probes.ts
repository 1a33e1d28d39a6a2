/** Liveness and readiness probes for a supervisor. */
import type { Route } from '../route.ts'
import type { ServedApp } from '../served.ts'
import { ok } from './parts.ts'

const statusBody = {
  type: 'object',
  required: ['status'],
  properties: { status: { type: 'string' } },
} as const

/** Timeout of the store in the readiness probe. */
const patienceMs = 2_000

export const livez: Route = {
  method: 'GET',
  path: '/livez',
  operation: 'livez',
  summary: 'Liveness probe: the process is alive',
  roles: 'anyone',
  replies: { 200: ok('Alive', statusBody) },
  handle: async () => ({ status: 200, body: { status: 'alive' } }),
}

export const readyz: Route = {
  method: 'GET',
  path: '/readyz',
  operation: 'readyz',
  summary: 'Readiness probe: the server accepts requests and its store answers',
  roles: 'anyone',
  replies: { 200: ok('Ready', statusBody), 503: ok('Not ready', statusBody) },
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
