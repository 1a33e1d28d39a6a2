/** How an agent that said "accepted" answers: signed, to the address that the call named. */
import { randomBytes } from 'node:crypto'
import { type Signed, sign, signatureHeaders } from '../seams/agents.ts'
import { copyVariants, type ReceivedCall } from './support.ts'

export interface Posting {
  readonly body?: unknown
  readonly key: string
  /** Seconds from now. */
  readonly off?: number
  readonly nonce?: string
  /** Signed for another call. */
  readonly signed?: Partial<Signed>
  /** To another process than the call says. */
  readonly address?: string
}

/** What an agent does when it is done: signs its answer and posts it where the call said. */
export async function post(
  { call }: ReceivedCall,
  {
    body = { output: { copyVariants } },
    key,
    off = 0,
    nonce = randomBytes(16).toString('hex'),
    signed,
    address,
  }: Posting,
): Promise<Response> {
  const text = JSON.stringify(body)
  const timestamp = String(Math.floor(Date.now() / 1_000) + off)
  const { runId, nodeId, attempt } = call
  const signature = sign({ timestamp, nonce, runId, nodeId, attempt, body: text, ...signed }, [key])
  const { pathname, origin } = new URL(call.callbackUrl ?? '')
  return fetch(`${address ?? origin}${pathname}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      [signatureHeaders.timestamp]: timestamp,
      [signatureHeaders.nonce]: nonce,
      [signatureHeaders.signature]: signature,
    },
    body: text,
  })
}
