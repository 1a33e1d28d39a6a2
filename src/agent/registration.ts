/** Registers an agent with its server and sends its heartbeats. */
import { type ErrorCode, errorTable, ProvisoError, toErrorMessage } from '../base/errors/error.ts'
import { systemClock } from '../base/time/clock.ts'
import { backoffMs, pause } from '../base/time/retry.ts'
import type { Capability } from '../domain/capability.ts'
import type { CallStore } from './call-store.ts'
import { serverRetryPolicy } from './post-callback.ts'

/** The Proviso server of an agent. */
export interface AgentServer {
  /** Such as `https://proviso.example`. */
  readonly url: string
  /** A token with the role `agent`. */
  readonly token: string
}

interface RegistrationOptions {
  readonly server: AgentServer
  readonly capability: Capability
  /** Address at which the server calls the agent; absent if the agent polls. */
  readonly url: string | undefined
  readonly calls: CallStore
  readonly onError: (cause: Error) => void
  readonly signal: AbortSignal
}

interface Registration {
  signingKey(): string | undefined
  /** Reads the key of an earlier start, so that calls can be verified before the registration is renewed. */
  readStoredKey(): Promise<void>
  /** Registers; retries while the server cannot be reached, and throws if it refuses. */
  register(): Promise<void>
  /** Sends heartbeats until the signal is aborted, and registers again when the server asks for it. */
  keepAlive(): Promise<void>
  deregister(): Promise<void>
}

export function createRegistration(options: RegistrationOptions): Registration {
  const { server, capability, url, calls, onError, signal } = options
  const { capabilityId } = capability
  const path = `${server.url.replace(/\/+$/, '')}/api/v1/flex/capabilities`
  let signingKey: string | undefined
  let intervalMs = 30_000

  const send = async (method: string, target: string, body?: object) => {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(30_000)])
    const response = await fetch(target, {
      method,
      headers: {
        authorization: `Bearer ${server.token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: timeout,
    })
    return { status: response.status, ok: response.ok, text: await response.text() }
  }
  const registerOnce = async () => {
    const { kind: _kind, settings: _settings, ...fields } = capability
    const reply = await send('POST', `${path}/register`, {
      ...fields,
      endpoint: url === undefined ? { poll: true } : { url },
      // A lost key cannot be shown again. Workers need none: every call brings its own.
      ...(signingKey === undefined && url !== undefined && { rotateKey: true }),
    })
    if (!reply.ok) throw toError(capabilityId, reply)
    const registered: Registered = JSON.parse(reply.text)
    if (registered.signingKey !== undefined) {
      signingKey = registered.signingKey
      await calls.writeSigningKey?.(signingKey)
    }
    intervalMs = registered.heartbeat.intervalSeconds * 1_000
  }
  const register = async () => {
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        return await registerOnce()
      } catch (cause) {
        if (ProvisoError.is(cause)) throw cause
        if (signal.aborted) break
        onError(
          new Error(
            `Cannot register "${capabilityId}" at ${server.url}: ${describeFailure(cause)}; trying again`,
            { cause },
          ),
        )
        await pause(systemClock, backoffMs(serverRetryPolicy, failures), signal)
      }
    }
    throw new Error(`Cannot register "${capabilityId}": the agent was closed`)
  }
  const beat = async () => {
    const { status } = await send('PATCH', `${path}/${encodeURIComponent(capabilityId)}`, {})
    // The server does not know this agent any more.
    if (status === 404) await register()
    else if (status >= 400) throw new Error(`the server answered ${status}`)
  }

  return {
    signingKey: () => signingKey,
    async readStoredKey() {
      signingKey = await calls.readSigningKey?.()
    },
    register,
    async keepAlive() {
      while (!signal.aborted) {
        await pause(systemClock, intervalMs, signal)
        if (signal.aborted) return
        await beat().catch((cause: unknown) => {
          if (signal.aborted) return
          onError(
            new Error(`Cannot send a heartbeat of "${capabilityId}": ${toErrorMessage(cause)}`, { cause }),
          )
        })
      }
    },
    async deregister() {
      const reply = await send('DELETE', `${path}/${encodeURIComponent(capabilityId)}`)
      if (!reply.ok && reply.status !== 404) throw toError(capabilityId, reply)
    },
  }
}

interface Registered {
  readonly signingKey?: string
  readonly heartbeat: { readonly intervalSeconds: number }
}

/** `fetch` hides the reason, such as a refused connection, in the cause of its error. */
export function describeFailure(cause: unknown): string {
  const inner = cause instanceof Error ? cause.cause : undefined
  return toErrorMessage(inner instanceof Error && inner.message !== '' ? inner : cause)
}

/** A refusal of the server is an error of its code; what may pass (429, 5xx) is a plain error and is retried. */
function toError(
  capabilityId: string,
  { status, text }: { readonly status: number; readonly text: string },
): Error {
  const { code, detail = text.slice(0, 300), hint, issues = [] } = readProblem(text)
  const message = `Cannot register "${capabilityId}": the server answered ${status}: ${detail}`
  if (status === 429 || status >= 500) return new Error(message)
  return new ProvisoError(isErrorCode(code) ? code : 'option/invalid', message, {
    ...(hint !== undefined && { hint }),
    issues: issues.map(({ pointer, message: said }) => ({
      code: 'capability/invalid',
      at: { pointer },
      message: said,
    })),
  })
}

interface Problem {
  readonly code?: string
  readonly detail?: string
  readonly hint?: string
  readonly issues?: readonly { readonly pointer: string; readonly message: string }[]
}

/** Reads the problem document; another program, such as a proxy, answers without one. */
function readProblem(text: string): Problem {
  try {
    return (JSON.parse(text) ?? {}) as Problem
  } catch {
    return {}
  }
}

function isErrorCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && Object.hasOwn(errorTable, code)
}
