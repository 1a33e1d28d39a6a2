/** Builds an agent from its parts: registration, HTTP server, calls in progress, callbacks. */
import { ProvisoError } from '../base/errors/error.ts'
import { systemClock } from '../base/time/clock.ts'
import { pause } from '../base/time/retry.ts'
import {
  type CapabilitySchema,
  defineCapability,
  type FittingReturn,
  type InputValue,
  type ReturnValue,
} from '../domain/capability/define-capability.ts'
import type { Capability } from '../domain/capability.ts'
import { createAnswer } from './answer-call.ts'
import type { RaoAnswer } from './call.ts'
import { type CallStore, createMemoryCallStore } from './call-store.ts'
import { type Listening, listen } from './node-server.ts'
import { pollCalls } from './poll-calls.ts'
import { postCallback } from './post-callback.ts'
import { type AgentServer, createRegistration } from './registration.ts'
import { type AgentContext, type AgentFunction, runFunction } from './run-function.ts'
import { createRunningCalls } from './running-calls.ts'

export type { AgentContext, AgentServer, RaoAnswer }

type CapabilityFields = Omit<
  Partial<Capability>,
  'capabilityId' | 'inputContract' | 'outputContract' | 'kind' | 'settings'
>

/** Fields of a capability, such as `summary` and `sideEffect`, and how to serve it. */
export interface AgentOptions<
  I extends CapabilitySchema = CapabilitySchema,
  O extends CapabilitySchema = CapabilitySchema,
  R = AgentReturn<O> | Promise<AgentReturn<O>>,
> extends CapabilityFields {
  readonly id: string
  /** A schema of Zod, Valibot, ArkType and others, a JSON Schema, or names of facets of the server. */
  readonly input: I
  readonly output: O
  /**
   * Does the work. Return the value, or the chunks of its text, such as the stream of a model. Call `context.reject` for
   * inputs that can never succeed and `context.ask` to ask a person first. Any other exception may be retried. A call that
   * was cut off by a crash runs again with the same `context.idempotencyKey`.
   */
  run(inputs: InputValue<I>, context: AgentContext): R
  readonly server: AgentServer
  /** Port of the HTTP server; 0 is any free port. `false` opens none: pass requests to `agent.fetch`. Default 0. */
  readonly port?: number | false
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string
  /** Address at which the server calls this agent. Default: the host and port; required with `port: false`. */
  readonly url?: string
  /**
   * Takes the calls from the server instead of listening, for agents that cannot be called, such as behind NAT. Several
   * programs with the same `id` and token share the calls. `concurrency`: calls at a time in this program, default 10.
   */
  readonly poll?: boolean | { readonly concurrency?: number }
  /** Time after which a call is answered with 202, and its result by callback. Default 5,000; 0: every call. */
  readonly callbackAfterMs?: number
  /** Keeps answers and accepted calls. Default: in memory, the newest 1,000. */
  readonly calls?: CallStore
  /** Largest body of a call in bytes. Default 4 MiB. */
  readonly maxBytes?: number
  /** Receives failures that are retried, such as a heartbeat that found no server. Default: a warning of the process. */
  readonly onError?: (cause: Error) => void
  /** Ends the wait for a server that cannot be reached at the start. */
  readonly signal?: AbortSignal
}

/** What the function of an agent returns: the value, a stream of its text, or the envelope of a RAO contract. */
export type AgentReturn<O> = ReturnValue<O> | AsyncIterable<string> | RaoAnswer

export interface Agent extends AsyncDisposable {
  readonly id: string
  /** Address at which the server calls this agent; `undefined` if the agent polls. */
  readonly url: string | undefined
  /** Answers a call of the server: the handler for your own HTTP server. */
  fetch(request: Request): Promise<Response>
  /** Stops heartbeats and new calls, waits up to `graceMs` (default 10,000) for calls in progress, then cancels them. */
  close(options?: { readonly graceMs?: number }): Promise<void>
  /** Removes the registration: plans no longer use the agent. `close` keeps it. */
  deregister(): Promise<void>
}

/**
 * Registers a capability with a Proviso server and serves its calls: verifies signatures, answers repeated calls from its
 * store, posts late answers, and sends heartbeats. Resolves when the agent is registered.
 *
 * @example
 * const agent = await serveAgent({
 *   id: 'write',
 *   input: z.object({ topic: z.string() }),
 *   output: z.object({ line: z.string() }),
 *   run: ({ topic }) => ({ line: `Time for ${topic}.` }),
 *   server: { url: 'https://proviso.example', token },
 *   port: 4003,
 * })
 */
export async function serveAgent<
  const I extends CapabilitySchema,
  const O extends CapabilitySchema,
  const R = AgentReturn<O> | Promise<AgentReturn<O>>,
>(options: AgentOptions<I, O, FittingReturn<R, AgentReturn<NoInfer<O>>>>): Promise<Agent> {
  const {
    id,
    input,
    output,
    run,
    server,
    port,
    host,
    url,
    poll = false,
    callbackAfterMs,
    calls,
    maxBytes,
    onError,
    signal,
    ...fields
  } = options
  // Typed by the schemas at the caller; here it is data.
  const { capability, validators } = defineCapability({
    ...fields,
    id,
    input,
    output,
    kind: 'http',
  } as Parameters<typeof defineCapability>[0])
  return startAgent({
    capability,
    answerCall: (call) => runFunction(run as unknown as AgentFunction, validators, call),
    server,
    port: port ?? (poll === false ? 0 : false),
    concurrency: poll === false ? 0 : ((poll === true ? undefined : poll.concurrency) ?? 10),
    host: host ?? '127.0.0.1',
    url,
    callbackAfterMs: callbackAfterMs ?? 5_000,
    calls: calls ?? createMemoryCallStore(),
    maxBytes: maxBytes ?? 4 * 1_048_576,
    onError: onError ?? ((cause) => process.emitWarning(cause)),
    signal,
  })
}

interface AgentParts {
  readonly capability: Capability
  readonly answerCall: Parameters<typeof createRunningCalls>[0]['runFunction']
  readonly server: AgentServer
  readonly port: number | false
  readonly host: string
  readonly url: string | undefined
  /** Calls at a time of an agent that polls; 0: it does not poll. */
  readonly concurrency: number
  readonly callbackAfterMs: number
  readonly calls: CallStore
  readonly maxBytes: number
  readonly onError: (cause: Error) => void
  readonly signal: AbortSignal | undefined
}

async function startAgent(parts: AgentParts): Promise<Agent> {
  const { capability, port, host, calls: store, onError } = parts
  const { capabilityId } = capability
  assertReachable(parts)
  const closing = new AbortController()
  const ended = new AbortController()
  const stopped = parts.signal ? AbortSignal.any([closing.signal, parts.signal]) : closing.signal
  const calls = createRunningCalls({
    calls: store,
    runFunction: parts.answerCall,
    postCallback: (call, answer) =>
      postCallback(call, answer, {
        signingKey: () => registration.signingKey(),
        onError,
        signal: ended.signal,
      }),
    onError,
  })
  const answer = createAnswer({
    capabilityId,
    signingKey: () => registration.signingKey(),
    calls,
    callbackAfterMs: parts.callbackAfterMs,
    maxBytes: parts.maxBytes,
  })
  const listening: Listening | undefined =
    port === false ? undefined : await listen(answer, { port, host, onError })
  const here = listening && `http://${host.includes(':') ? `[${host}]` : host}:${listening.port}/`
  const url = parts.url ?? here
  const registration = createRegistration({
    server: parts.server,
    capability,
    url,
    calls: store,
    onError,
    signal: stopped,
  })

  const close = async ({ graceMs = 10_000 } = {}) => {
    closing.abort()
    listening?.close()
    const grace = new AbortController()
    await Promise.race([calls.whenIdle(), pause(systemClock, graceMs, grace.signal)])
    grace.abort()
    calls.abortAll()
    ended.abort()
    await calls.whenIdle()
    listening?.end()
  }
  try {
    await registration.readStoredKey()
    await registration.register()
    await calls.resumeAccepted()
  } catch (cause) {
    await close({ graceMs: 0 })
    throw cause
  }
  void registration.keepAlive()
  const { server, concurrency } = parts
  if (concurrency > 0)
    void pollCalls({
      server,
      capabilityId,
      calls,
      concurrency,
      onError,
      signal: stopped,
      ended: ended.signal,
    })
  return {
    id: capabilityId,
    url,
    fetch: answer,
    close,
    deregister: () => registration.deregister(),
    [Symbol.asyncDispose]: () => close(),
  }
}

/** An agent is called at an address, or it polls. */
function assertReachable({ capability: { capabilityId }, port, url, concurrency }: AgentParts): void {
  const refuse = (reason: string, hint: string) => {
    throw new ProvisoError('option/invalid', `Cannot serve "${capabilityId}": ${reason}`, { hint })
  }
  if (concurrency > 0 && (port !== false || url !== undefined))
    refuse('`poll` excludes `port` and `url`', 'Remove `poll` to be called, or the others to take calls')
  if (concurrency === 0 && port === false && url === undefined)
    refuse(
      '`port: false` requires `url`',
      'Set `url` to the address at which the server calls this agent, or `poll: true`',
    )
}
