/** `proviso/agent`: turns a function into an agent that a Proviso server calls over HTTP. */

export { verifyWebhook, type WebhookVerification } from '../domain/capability/webhook-signature.ts'
export type { WebhookEvent, WebhookNotice } from '../domain/event/webhook-notice.ts'
export type { AcceptedCall, CallAnswer, CallBody, CallError } from './call.ts'
export { type CallRecord, type CallStore, createFileCallStore, createMemoryCallStore } from './call-store.ts'
export {
  type Agent,
  type AgentContext,
  type AgentOptions,
  type AgentReturn,
  type AgentServer,
  type RaoAnswer,
  serveAgent,
} from './serve-agent.ts'
