/** Every built-in route of the server. */
import type { Route } from './route.ts'
import { postCallback } from './routes/callbacks.ts'
import {
  deregisterCapability,
  heartbeatCapability,
  listCapabilities,
  registerCapability,
} from './routes/capabilities.ts'
import { listAsks, resolveAsk, resolveAskOldPath } from './routes/hitl.ts'
import { eraseRoute, listOperations, resealSecrets } from './routes/maintenance.ts'
import { livez, readyz } from './routes/operations.ts'
import { proveEnvelope } from './routes/prove.ts'
import { runEvents, showOutput, showRun } from './routes/run-page.ts'
import { runResume } from './routes/run-resume.ts'
import { runStream } from './routes/run-stream.ts'
import { cancelRun, createRun, listRuns, triggerPolicy } from './routes/runs.ts'
import { createTokenRoute, listTokens, revokeToken, rotateTokenRoute } from './routes/tokens.ts'

export const coreRoutes: readonly Route[] = [
  runStream,
  runResume,
  createRun,
  listRuns,
  showRun,
  showOutput,
  runEvents,
  cancelRun,
  triggerPolicy,
  listAsks,
  resolveAsk,
  resolveAskOldPath,
  proveEnvelope,
  registerCapability,
  heartbeatCapability,
  deregisterCapability,
  listCapabilities,
  postCallback,
  createTokenRoute,
  listTokens,
  rotateTokenRoute,
  revokeToken,
  listOperations,
  eraseRoute,
  resealSecrets,
  livez,
  readyz,
]
