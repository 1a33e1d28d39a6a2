/** Layouts of plans from one warm worker, cached by the plan; after a replan known nodes keep their place. */
import type { PlanView } from '../fold/run-state.ts'
import type { LayoutAnswer, LayoutRequest } from './layout-worker.ts'

export type Positions = { readonly [id: string]: { readonly x: number; readonly y: number } }

let worker: Worker | undefined
export interface PlanLayout {
  readonly positions: Positions
  readonly direction: LayoutAnswer['direction']
}

const cache = new Map<string, PlanLayout>()
const waiting = new Map<string, (answer: PlanLayout) => void>()

export async function layoutPlan(
  plan: PlanView,
  { known = {}, width }: { readonly known?: Positions; readonly width: number },
): Promise<PlanLayout> {
  const nodes = plan.nodes.map(({ id }) => id)
  const edges = plan.edges.map(({ from, to }) => ({ from, to }))
  const key = JSON.stringify([nodes, edges, Math.round(width / 100)])
  const begin = performance.now()
  const fresh = cache.get(key) ?? (await ask({ key, nodes, edges, width }))
  // Shown in the profiler of the browser, and read by the bench.
  performance.measure('plan-layout', { start: begin })
  cache.set(key, fresh)
  return { ...fresh, positions: keepKnown(fresh.positions, known) }
}

function ask(request: LayoutRequest): Promise<PlanLayout> {
  worker ??= startWorker()
  return new Promise((resolve) => {
    waiting.set(request.key, resolve)
    worker?.postMessage(request)
  })
}

function startWorker(): Worker {
  const started = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' })
  started.onmessage = ({ data }: MessageEvent<LayoutAnswer>) => {
    waiting.get(data.key)?.(data)
    waiting.delete(data.key)
  }
  return started
}

/** Nodes that were drawn before stay there; new ones take their fresh place, moved below if it is taken. */
function keepKnown(fresh: Positions, known: Positions): Positions {
  const placed: { [id: string]: { x: number; y: number } } = {}
  for (const id of Object.keys(fresh)) if (known[id]) placed[id] = known[id]
  for (const [id, position] of Object.entries(fresh)) {
    if (placed[id]) continue
    const next = { ...position }
    while (Object.values(placed).some(({ x, y }) => Math.abs(x - next.x) < 200 && Math.abs(y - next.y) < 64))
      next.y += 84
    placed[id] = next
  }
  return placed
}
