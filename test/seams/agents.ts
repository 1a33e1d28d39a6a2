/** Test seam: calls to agents over HTTP: signatures, callbacks, the guard of addresses. */
export { createCallbacks } from '../../src/adapters/executors/callbacks.ts'
export { httpDispatcher } from '../../src/adapters/executors/http.ts'
export { createWorkerQueue } from '../../src/adapters/executors/worker-queue.ts'
export { type AddressFilterOptions, createAddressFilter } from '../../src/adapters/net/address-filter.ts'
export { type Signed, sign, signatureHeaders, verify } from '../../src/domain/capability/call-signature.ts'
export { mostPerTenant } from '../../src/server/agents/register-agents.ts'
