/** Every built-in route of the server. */
import type { Route } from './route.ts'
import { postCallback } from './routes/callbacks.ts'
import {
  deregisterCapability,
  heartbeatCapability,
  listCapabilities,
  registerCapability,
} from './routes/capabilities.ts'
import { createFacet, deleteFacet, listFacets } from './routes/facets.ts'
import { showHealth } from './routes/health.ts'
import { listAsks, resolveAsk, resolveAskOldPath } from './routes/hitl.ts'
import { eraseRoute, listOperations, resealSecrets } from './routes/maintenance.ts'
import { deleteMemory, listMemoriesRoute } from './routes/memories.ts'
import { livez, readyz } from './routes/operations.ts'
import { proveEnvelope } from './routes/prove.ts'
import { replayRun } from './routes/replay.ts'
import { runEvents, showOutput, showRun } from './routes/run-page.ts'
import { runResume } from './routes/run-resume.ts'
import { runStream } from './routes/run-stream.ts'
import { cancelRun, createRun, listRuns, triggerPolicy } from './routes/runs.ts'
import {
  changeSchedule,
  createSchedule,
  deleteSchedule,
  listSchedules,
  showSchedule,
} from './routes/schedules.ts'
import { showStatus } from './routes/status.ts'
import { claimTask, completeTask, declineTask, listTasks, releaseTask } from './routes/tasks.ts'
import { addMessage, listThreads, showThread } from './routes/threads.ts'
import { createTokenRoute, listTokens, revokeToken, rotateTokenRoute } from './routes/tokens.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  listDeliveries,
  listWebhooks,
  retryDelivery,
} from './routes/webhooks.ts'
import { renewCall, takeCall } from './routes/worker-calls.ts'

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
  replayRun,
  listAsks,
  resolveAsk,
  resolveAskOldPath,
  listThreads,
  showThread,
  addMessage,
  createSchedule,
  listSchedules,
  showSchedule,
  changeSchedule,
  deleteSchedule,
  listMemoriesRoute,
  deleteMemory,
  listTasks,
  claimTask,
  releaseTask,
  completeTask,
  declineTask,
  proveEnvelope,
  showHealth,
  registerCapability,
  heartbeatCapability,
  deregisterCapability,
  listCapabilities,
  listFacets,
  createFacet,
  deleteFacet,
  postCallback,
  takeCall,
  renewCall,
  createTokenRoute,
  listTokens,
  rotateTokenRoute,
  revokeToken,
  createWebhook,
  listWebhooks,
  changeWebhook,
  deleteWebhook,
  listDeliveries,
  retryDelivery,
  showStatus,
  listOperations,
  eraseRoute,
  resealSecrets,
  livez,
  readyz,
]
