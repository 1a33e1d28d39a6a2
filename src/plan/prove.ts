/** STUB until the prover lands: binds by name and believes everything. */
import type { Capability } from '../domain/capability.ts'
import type { DiagnosticBundle } from '../domain/diagnostic.ts'
import type { Envelope } from '../domain/envelope.ts'
import type { Facet } from '../domain/facet.ts'
import type { Draft, Edge, Plan, Source } from '../domain/plan.ts'
export interface ProveRequest {
  envelope: Envelope
  draft: Draft
  facets: readonly Facet[]
  capabilities: readonly Capability[]
  version: number
}
export function prove(
  r: ProveRequest,
): { ok: true; plan: Plan } | { ok: false; diagnostics: DiagnosticBundle } {
  const caps = new Map(r.capabilities.map((c) => [c.capabilityId, c]))
  const list = (b: any): Source[] => (Array.isArray(b) ? b : [b])
  const edges: Required<Edge>[] = (r.draft.edges ?? []).map((e) => ({ when: 'pass', ...e }) as Required<Edge>)
  const nodes = r.draft.nodes.map((n) => {
    const cap = n.capabilityId ? caps.get(n.capabilityId) : undefined
    const side = (s: any) => (s && !Array.isArray(s) ? s : {})
    const input = n.contracts?.input ?? side(cap?.inputContract)
    const output = n.contracts?.output ?? side(cap?.outputContract)
    const inputs: Record<string, Source[]> = {}
    for (const [k, b] of Object.entries(n.inputs ?? {})) {
      inputs[k] = list(b)
      for (const s of inputs[k]!)
        if ('node' in s && !edges.some((e) => e.from === s.node && e.to === n.id))
          edges.push({ from: s.node, to: n.id, when: 'pass' })
    }
    return {
      ...n,
      kind: n.kind ?? (n.routing ? 'routing' : 'execution'),
      contracts: { input, output },
      inputs,
      postConditions: [...(cap?.postConditions ?? []), ...(n.postConditions ?? [])],
      guards: [],
      provides: [],
      enforces: [],
      facetProvenance: { input: [], output: [] },
    }
  })
  const out: any = r.draft.output
  const output = out?.properties
    ? { properties: Object.fromEntries(Object.entries(out.properties).map(([k, b]) => [k, list(b)])) }
    : list(out ?? { node: nodes.at(-1)!.id })
  return {
    ok: true,
    plan: {
      version: r.version,
      nodes,
      edges,
      output,
      limits: r.draft.limits ?? {},
      diagnostics: { status: 'accepted', satisfactionScore: 1, failures: [], warnings: [], infos: [] },
      metadata: {},
    } as unknown as Plan,
  }
}
