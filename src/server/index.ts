/** The door to the server: `import { createServer } from 'proviso/server'`. */
export type { AuthOptions } from './authenticate.ts'
export type { Problem, ProblemIssue, Refusal, RefusalCode } from './problem.ts'
export { errorStatus, refusal, refusalTable } from './problem.ts'
export type { Rate } from './rate-limit.ts'
export type { Answer, Call, Caller, EventStream, ReplyShape, Route } from './route.ts'
export type { Served, ServedApp } from './served.ts'
export { createServer, defaultPort, type Server, type ServerLimits, type ServerOptions } from './server.ts'
export { createToken, type NewToken, roles, shortestToken, tokenPrefix } from './token.ts'
