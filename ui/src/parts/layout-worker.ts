/** Lays out a plan with dagre, away from the main thread. */
import { Graph, layout } from '@dagrejs/dagre'

export interface LayoutRequest {
  readonly key: string
  readonly nodes: readonly string[]
  readonly edges: readonly { readonly from: string; readonly to: string }[]
  /** Width of the place; a plan that is much wider is drawn from top to bottom. */
  readonly width: number
}

export interface LayoutAnswer {
  readonly key: string
  readonly direction: 'LR' | 'TB'
  readonly positions: { readonly [id: string]: { readonly x: number; readonly y: number } }
}

const size = { width: 196, height: 58 }

self.onmessage = ({ data }: MessageEvent<LayoutRequest>) => {
  const across = arrange(data, 'LR')
  const isTooWide = measure(across, 'x') > 1.3 * data.width && measure(across, 'x') > 2 * measure(across, 'y')
  const direction = isTooWide && data.nodes.length <= mostDown ? 'TB' : 'LR'
  const positions = direction === 'TB' ? arrange(data, 'TB') : across
  self.postMessage({ key: data.key, direction, positions } satisfies LayoutAnswer)
}

/** Longer chains are not readable from top to bottom either. */
const mostDown = 12

type Places = { [id: string]: { x: number; y: number } }

function arrange({ nodes, edges }: LayoutRequest, rankdir: 'LR' | 'TB'): Places {
  const graph = new Graph()
  graph.setGraph({ rankdir, ranker: 'tight-tree', nodesep: 26, ranksep: rankdir === 'LR' ? 64 : 40 })
  graph.setDefaultEdgeLabel(() => ({}))
  // Sorted, so that the same plan is always drawn alike.
  for (const id of [...nodes].sort()) graph.setNode(id, { ...size })
  for (const { from, to } of edges) graph.setEdge(from, to)
  layout(graph)
  return Object.fromEntries(
    graph.nodes().map((id: string) => {
      const { x, y } = graph.node(id) as { x: number; y: number }
      return [id, { x: x - size.width / 2, y: y - size.height / 2 }]
    }),
  )
}

function measure(places: Places, axis: 'x' | 'y'): number {
  const values = Object.values(places).map((place) => place[axis])
  return Math.max(...values) - Math.min(...values) + (axis === 'x' ? size.width : size.height)
}
