/** Draws the picture of a plan as SVG, laid out in layers by dagre. Names come from users, so every text is escaped. */
import { Graph, layout } from '@dagrejs/dagre'
import type { GraphLink, GraphNode, PlanGraph } from './plan-graph.ts'
import { describeLink, statusColors } from './write-graph.ts'

const lineHeight = 16
const padding = 12
const letter = 7

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

interface Path {
  readonly points: readonly { readonly x: number; readonly y: number }[]
  readonly x?: number
  readonly y?: number
}

export function drawSvg({ title, nodes, links }: PlanGraph): string {
  const graph = new Graph({ compound: true, multigraph: true })
  graph.setGraph({ rankdir: 'TB', nodesep: 30, ranksep: 40, marginx: 16, marginy: 16, ranker: 'tight-tree' })
  for (const node of nodes) graph.setNode(node.id, isEmptyGroup(node, nodes) ? {} : measure(node))
  for (const { id, group } of nodes) if (group !== undefined) graph.setParent(id, group)
  // dagre has no links to groups: such a link goes to the first node inside.
  const anchor = (id: string): string => {
    const inner = nodes.find(({ group }) => group === id)
    return inner ? anchor(inner.id) : id
  }
  for (const [index, link] of links.entries()) {
    const text = describeLink(link)
    const size = text === '' ? {} : { width: text.length * letter, height: lineHeight, labelpos: 'c' }
    graph.setEdge(anchor(link.from), anchor(link.to), { ...size }, String(index))
  }
  layout(graph)
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  const boxes = new Map(nodes.map(({ id }) => [id, graph.node(id) as unknown as Box]))
  const groups = nodes.filter(({ kind }) => kind === 'group')
  const others = nodes.filter(({ kind }) => kind !== 'group')
  const size = `${Math.ceil(width)} ${Math.ceil(height)}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" width="${Math.ceil(width)}" height="${Math.ceil(height)}" role="img" aria-label="${escapeXml(title)}">`,
    `<title>${escapeXml(title)}</title>`,
    style,
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>',
    ...groups.map((node) => drawNode(node, boxes)),
    ...links.map((link, index) =>
      drawLink(link, graph.edge(anchor(link.from), anchor(link.to), String(index)) as unknown as Path),
    ),
    ...others.map((node) => drawNode(node, boxes)),
    '</svg>',
    '',
  ].join('\n')
}

/** Colours follow the reader's theme. */
const style = `<style>
text{font:12px system-ui,sans-serif;fill:#171717;text-anchor:middle}.detail{fill:#525252;font-size:11px}
rect{fill:#fff;stroke:#737373}.group rect{fill:#a3a3a322;stroke-dasharray:4 3}.link{fill:none;stroke:#737373}.tip{fill:#737373}
.failure{stroke-dasharray:5 4}${Object.entries(statusColors)
  .map(([status, { border, fill }]) => `.${status} rect{stroke:${border};fill:${fill}}`)
  .join('')}
@media(prefers-color-scheme:dark){text{fill:#f5f5f5}.detail{fill:#a3a3a3}rect{fill:#262626}${Object.keys(
  statusColors,
)
  .map((status) => `.${status} text{fill:#171717}`)
  .join('')}}
</style>`

function isEmptyGroup({ id, kind }: GraphNode, nodes: readonly GraphNode[]): boolean {
  return kind === 'group' && nodes.some(({ group }) => group === id)
}

function measure({ title, detail }: GraphNode): { width: number; height: number } {
  const width = Math.max(title.length, detail.length, 6) * letter + 2 * padding
  return { width, height: (detail === '' ? 1 : 2) * lineHeight + padding }
}

function drawNode(node: GraphNode, boxes: ReadonlyMap<string, Box>): string {
  const { x, y, width, height } = boxes.get(node.id) ?? { x: 0, y: 0, width: 0, height: 0 }
  const [left, top] = [x - width / 2, y - height / 2]
  const middle = node.kind === 'group' ? top + lineHeight : y - (node.detail === '' ? -4 : 3)
  const corner = node.kind === 'routing' ? height / 2 : 5
  const state = node.status === undefined ? '' : `, ${node.status}`
  return [
    `<g class="${[node.kind, node.status ?? ''].join(' ').trim()}">`,
    `<title>${escapeXml(`${node.title}${state}`)}</title>`,
    `<rect x="${round(left)}" y="${round(top)}" width="${round(width)}" height="${round(height)}" rx="${round(corner)}"/>`,
    `<text x="${round(x)}" y="${round(middle)}">${escapeXml(node.title)}</text>`,
    ...(node.detail === '' || node.detail === node.title
      ? []
      : [
          `<text class="detail" x="${round(x)}" y="${round(middle + lineHeight)}">${escapeXml(node.detail)}</text>`,
        ]),
    '</g>',
  ].join('')
}

function drawLink(link: GraphLink, { points, x, y }: Path): string {
  const path = points.map((point, index) => `${index === 0 ? 'M' : 'L'}${round(point.x)} ${round(point.y)}`)
  const text = describeLink(link)
  const label =
    text === '' || x === undefined || y === undefined
      ? ''
      : `<text class="detail" x="${round(x)}" y="${round(y)}">${escapeXml(text)}</text>`
  return `<path class="link${link.onFailure ? ' failure' : ''}" marker-end="url(#arrow)" d="${path.join('')}"/>${label}`
}

function round(number: number): number {
  return Math.round(number * 10) / 10
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
