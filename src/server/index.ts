/** Entry point of the server: `import { createServer } from 'proviso/server'`. */

export { roles } from '../domain/ports/records.ts'
export {
  type Resealed,
  type ResealRequest,
  resealSecrets,
} from './agents/reseal.ts'
export type { AuthOptions, SignInOptions } from './auth/authenticate.ts'
export type { JwtOptions } from './auth/jwt.ts'
export {
  createToken,
  type NewToken,
  type RotateToken,
  rotateToken,
  shortestToken,
  tokenPrefix,
  type Verified,
} from './auth/token.ts'
export type { ConsoleOptions } from './console/console-files.ts'
export { openApiDocument } from './openapi.ts'
export { createTenantQuota, type Rate } from './overload/rate-limit.ts'
export type { Problem, ProblemIssue, ProblemIssueCode, Refusal } from './problem.ts'
export { refusal } from './problem.ts'
export { errorStatus, type RefusalCode, refusalTable } from './problem-table.ts'
export type { Answer, Call, Caller, EventStream, ReplyShape, Route } from './route.ts'
export { type SandboxOptions, sandboxRoutes } from './routes/sandbox.ts'
export type { Generate } from './sandbox/assistant.ts'
export type { Served, ServedApp } from './served.ts'
export { createServer, defaultPort, type Server, type ServerLimits, type ServerOptions } from './server.ts'
export type { Delivery, WebhookEndpoint } from './webhooks/webhooks.ts'
