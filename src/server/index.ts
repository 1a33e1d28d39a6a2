/** The door to the server: `import { createServer } from 'proviso/server'`. */

export { roles } from '../domain/ports/records.ts'
export type { AuthOptions } from './authenticate.ts'
export { openApiDocument } from './openapi.ts'
export type { Problem, ProblemIssue, Refusal, RefusalCode } from './problem.ts'
export { errorStatus, refusal, refusalTable } from './problem.ts'
export type { Rate } from './rate-limit.ts'
export type { Answer, Call, Caller, EventStream, ReplyShape, Route } from './route.ts'
export { type SandboxOptions, sandboxRoutes } from './routes/sandbox.ts'
export type { Generate } from './sandbox/assistant.ts'
export type { Served, ServedApp } from './served.ts'
export { createServer, defaultPort, type Server, type ServerLimits, type ServerOptions } from './server.ts'
export { createToken, type NewToken, shortestToken, tokenPrefix } from './token.ts'
