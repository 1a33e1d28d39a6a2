/** Test seam: an app as a server of the Model Context Protocol. */
export { createMcpServers, loadServerSdk, type McpApp } from '../../src/server/mcp/serve-mcp.ts'
