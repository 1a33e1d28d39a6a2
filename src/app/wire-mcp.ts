/** Wires the MCP servers of an app: their tools become capabilities of its catalog, and follow changes of their lists. */
import { createMcpClient, type McpClient, type McpClientOptions } from '../adapters/mcp/mcp-client.ts'
import type { McpServers } from '../adapters/mcp/mcp-options.ts'
import type { AppOptions } from '../app-options.ts'
import type { CapabilityCatalog } from '../plan/index.ts'

export function wireMcp(
  servers: McpServers,
  parts: Pick<McpClientOptions, 'clock' | 'redactor'> &
    Pick<AppOptions, 'onMcpLog'> & { readonly catalog: CapabilityCatalog },
): McpClient {
  const { catalog, clock, redactor, onMcpLog = () => {} } = parts
  const registered = new Map<string, ReadonlySet<string>>()
  return createMcpClient({
    servers,
    clock,
    redactor,
    onLog: onMcpLog,
    onCapabilities(server, capabilities) {
      const before = registered.get(server) ?? new Set()
      const refused = new Map<string, string>()
      const accepted = new Set<string>()
      for (const capability of capabilities) {
        const { capabilityId } = capability
        const isTaken = catalog.getCapabilityById(capabilityId) !== undefined
        if (accepted.has(capabilityId) || (isTaken && !before.has(capabilityId))) {
          refused.set(capabilityId, `another capability has the id "${capabilityId}"`)
          continue
        }
        const done = catalog.register(capability, { pinned: true })
        if (done.ok) accepted.add(capabilityId)
        else refused.set(capabilityId, done.issues[0]?.message ?? 'the catalog does not accept it')
      }
      for (const capabilityId of before) if (!accepted.has(capabilityId)) catalog.deregister(capabilityId)
      registered.set(server, accepted)
      return refused
    },
  })
}
