/** Writes the picture of a plan as Mermaid or Graphviz text. Names come from users, so every text is escaped. Pure. */
import type { GraphLink, GraphNode, PlanGraph } from './plan-graph.ts'

/** Border and fill of each state of a node in a run, shared by all formats. */
export const statusColors: Readonly<Record<string, { readonly border: string; readonly fill: string }>> = {
  running: { border: '#0e7490', fill: '#cffafe' },
  judging: { border: '#0e7490', fill: '#cffafe' },
  waiting: { border: '#a16207', fill: '#fef9c3' },
  awaiting_hitl: { border: '#a16207', fill: '#fef9c3' },
  completed: { border: '#15803d', fill: '#dcfce7' },
  error: { border: '#b91c1c', fill: '#fee2e2' },
  skipped: { border: '#a3a3a3', fill: '#f5f5f5' },
}

export function writeMermaid({ title, nodes, links }: PlanGraph): string {
  const names = numberNodes(nodes)
  const name = (id: string) => names.get(id) ?? id
  const lines = ['---', `title: ${JSON.stringify(title)}`, '---', 'flowchart TD']
  const addGroup = (group: string | undefined, indent: string) => {
    for (const node of nodes) {
      if (node.group !== group) continue
      if (node.kind === 'group') {
        lines.push(`${indent}subgraph ${name(node.id)}["${mermaidText(node)}"]`)
        addGroup(node.id, `${indent}  `)
        lines.push(`${indent}end`)
      } else {
        const [open, close] = node.kind === 'routing' ? ['{{"', '"}}'] : ['["', '"]']
        lines.push(`${indent}${name(node.id)}${open}${mermaidText(node)}${close}`)
      }
    }
  }
  addGroup(undefined, '  ')
  for (const link of links) {
    const { from, to, onFailure } = link
    const text = describeLink(link)
    const arrow = onFailure ? '-.->' : '-->'
    lines.push(`  ${name(from)} ${arrow}${text === '' ? '' : `|"${escapeMermaid(text)}"|`} ${name(to)}`)
  }
  for (const [status, { border, fill }] of Object.entries(statusColors)) {
    const ids = nodes.filter((node) => node.status === status).map(({ id }) => name(id))
    if (ids.length === 0) continue
    lines.push(`  classDef ${status} fill:${fill},stroke:${border},color:#171717`)
    lines.push(`  class ${ids.join(',')} ${status}`)
  }
  return `${lines.join('\n')}\n`
}

export function writeDot({ title, nodes, links }: PlanGraph): string {
  const names = numberNodes(nodes)
  const name = (id: string) => names.get(id) ?? id
  /** Graphviz draws edges between nodes, so an edge of a group starts at its first node and is cut at its border. */
  const anchor = (id: string): string => {
    const inner = nodes.find(({ group }) => group === id)
    return inner ? anchor(inner.id) : name(id)
  }
  const isGroup = new Set(nodes.filter(({ kind }) => kind === 'group').map(({ id }) => id))
  const lines = [
    `digraph ${dotText(title)} {`,
    `  label=${dotText(title)} compound=true`,
    '  node [shape=box style="rounded,filled" fillcolor=white fontname="Helvetica" fontsize=11]',
    '  edge [fontname="Helvetica" fontsize=10]',
  ]
  const addGroup = (group: string | undefined, indent: string) => {
    for (const node of nodes) {
      if (node.group !== group) continue
      const { border, fill } = statusColors[node.status ?? ''] ?? {}
      const paint = border ? ` color="${border}" fillcolor="${fill}"` : ''
      if (node.kind === 'group') {
        lines.push(
          `${indent}subgraph cluster_${name(node.id)} {`,
          `${indent}  label=${dotText(twoLines(node))}`,
        )
        addGroup(node.id, `${indent}  `)
        lines.push(`${indent}}`)
      } else {
        const shape = node.kind === 'routing' ? ' shape=hexagon' : ''
        lines.push(`${indent}${name(node.id)} [label=${dotText(twoLines(node))}${shape}${paint}]`)
      }
    }
  }
  addGroup(undefined, '  ')
  for (const link of links) {
    const { from, to, onFailure } = link
    const text = describeLink(link)
    const options = [
      ...(text === '' ? [] : [`label=${dotText(text)}`]),
      ...(onFailure ? ['style=dashed'] : []),
      ...(isGroup.has(from) ? [`ltail=cluster_${name(from)}`] : []),
      ...(isGroup.has(to) ? [`lhead=cluster_${name(to)}`] : []),
    ]
    lines.push(`  ${anchor(from)} -> ${anchor(to)}${options.length > 0 ? ` [${options.join(' ')}]` : ''}`)
  }
  return `${[...lines, '}'].join('\n')}\n`
}

/** Ids of users may contain anything; pictures use numbers. */
function numberNodes(nodes: readonly GraphNode[]): Map<string, string> {
  return new Map(nodes.map(({ id }, index) => [id, `n${index}`]))
}

export function describeLink({ label, onFailure }: GraphLink): string {
  return label ?? (onFailure ? 'on failure' : '')
}

function twoLines({ title, detail }: GraphNode): string {
  return detail === '' || detail === title ? title : `${title}\n${detail}`
}

function mermaidText(node: GraphNode): string {
  return escapeMermaid(twoLines(node)).replaceAll('\n', '<br>')
}

/** Mermaid reads entities as `#name;` and `#code;`; everything that it could take for markup becomes one. */
function escapeMermaid(text: string): string {
  return text.replace(/[^\p{L}\p{N} _./,:()\n-]/gu, (sign) => `#${sign.codePointAt(0)};`)
}

function dotText(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}
