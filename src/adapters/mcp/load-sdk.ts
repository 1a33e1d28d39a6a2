/** Loads the MCP SDK on first use: it is an optional package, which only programs with MCP servers need. */
import { missingPackage } from '../../base/errors/missing-package.ts'

export type Sdk = typeof import('@modelcontextprotocol/client')
export type StdioSdk = typeof import('@modelcontextprotocol/client/stdio')

/** Throws `option/invalid` with the install command. */
export async function loadSdk(): Promise<Sdk & StdioSdk> {
  try {
    const [client, stdio] = await Promise.all([
      import('@modelcontextprotocol/client'),
      import('@modelcontextprotocol/client/stdio'),
    ])
    return { ...client, ...stdio }
  } catch (cause) {
    const name = '@modelcontextprotocol/client'
    throw missingPackage({ name, version: '2', purpose: 'connect to MCP servers' }, cause)
  }
}
