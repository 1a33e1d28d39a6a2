/** Agents that say 202 and call back: how often they do, and what they receive. */
import { randomBytes } from 'node:crypto'
import type { App } from '../../src/index.ts'
import { createServer } from '../../src/server/index.ts'
import { sign, signatureHeaders } from '../seams/agents.ts'

interface AgentCall {
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
  readonly callbackUrl: string
}

/** Posts the answer to the address in the body of the call, signed, and returns the status. */
export async function callBack(
  call: string,
  { output, secret }: { readonly output: unknown; readonly secret: string },
): Promise<number> {
  const { runId, nodeId, attempt, callbackUrl } = JSON.parse(call) as AgentCall
  const body = JSON.stringify({ output })
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const nonce = randomBytes(16).toString('hex')
  const response = await fetch(callbackUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      [signatureHeaders.timestamp]: timestamp,
      [signatureHeaders.nonce]: nonce,
      [signatureHeaders.signature]: sign({ timestamp, nonce, runId, nodeId, attempt, body }, [secret]),
    },
    body,
  })
  await response.arrayBuffer()
  return response.status
}

/** A server at which agents can call back. */
export async function serveCallbacks(app: App): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer({ app }, { auth: { token: 'token-of-the-conformance-bench' } })
  const url = await server.listen({ port: 0 })
  return { url, close: () => server.close({ graceMs: 0 }) }
}
