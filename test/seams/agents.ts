/** Test seam: calls to agents over HTTP: signatures, callbacks, the guard of addresses. */
export { createCallbacks } from '../../src/adapters/executors/callbacks.ts'
export { httpDispatcher } from '../../src/adapters/executors/http.ts'
export { type Signed, sign, signatureHeaders, verify } from '../../src/adapters/executors/signature.ts'
export { createGuard, type GuardOptions } from '../../src/adapters/net/guard.ts'
export { mostPerTenant } from '../../src/server/agents/register-agents.ts'
