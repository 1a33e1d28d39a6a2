/**
 * SSRF guard for calls to untrusted URLs. The check is made when the connection is opened, on the resolved address, so that
 * a name cannot change its meaning in between (DNS rebinding). Callers do not follow redirects.
 */
import { lookup as lookUp } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import type { Dispatcher } from 'undici'
import type { Issue } from '../../base/errors/issue.ts'
import { type AddressRules, addressRules } from './guard-addresses.ts'

export interface GuardOptions extends AddressRules {
  /** Schemes for hosts that are not named in `allow`. Default `https:` alone; loopback may use both when it is allowed. */
  readonly schemes?: readonly ('http:' | 'https:')[]
  /** Ports for hosts that are not named in `allow`. Default 443 alone; loopback may use any when it is allowed. */
  readonly ports?: readonly number[] | 'any'
  /** How names become addresses. Default: as the machine does it. */
  readonly resolve?: (
    host: string,
  ) => Promise<readonly { readonly address: string; readonly family: number }[]>
}

export interface Guard {
  /** Checks the URL without a lookup: its scheme, port, credentials and, if it has one, its address. */
  check(url: string): Issue | undefined
  /** The same with a lookup of the name; calls are checked again. */
  inspect(url: string): Promise<Issue | undefined>
  /** Dispatcher for guarded connections; loaded on the first call. */
  connections(): Promise<Dispatcher>
  close(): Promise<void>
}

/** A refused connection. The message names the fix. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused'
  readonly code = 'PROVISO_ADDRESS_REFUSED'
}

const connectMs = 10_000

export function createGuard(options: GuardOptions = {}): Guard {
  const { schemes = ['https:'], ports = [443], allowLoopback = false, resolve = resolveName } = options
  const addresses = addressRules(options)
  let opened: Promise<Dispatcher> | undefined

  const check = (text: string): Issue | undefined => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url === undefined)
      return refusal(`"${text.slice(0, 200)}" is not a URL`, 'Write it like https://host/path')
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      return refusal(`the scheme ${url.protocol} is not supported`, 'Use https')
    if (url.username !== '' || url.password !== '')
      return refusal('the URL holds credentials', 'Send them in `auth` instead')
    const target = { host: url.hostname, port: getPort(url) }
    if (addresses.isNamed(target)) return undefined
    if (!(allowLoopback && addresses.isLoopback(target.host))) {
      if (!schemes.includes(url.protocol))
        return refusal(`the scheme ${url.protocol} is not allowed`, `Allowed: ${schemes.join(', ')}`)
      if (ports !== 'any' && !ports.includes(target.port))
        return refusal(`the port ${target.port} is not allowed`, `Allowed: ${ports.join(', ')}`)
    }
    if (!addresses.isLiteral(target.host)) return undefined
    const why = addresses.refuse(unbracketed(target.host), target.port)
    return why === undefined ? undefined : refusal(why)
  }

  /** Resolves a name; one forbidden address refuses the whole name. */
  const resolveAddresses = async (host: string, port: number) => {
    const found = await resolve(host)
    if (found.length === 0) throw new AddressRefused(`"${host}" has no address`)
    if (addresses.isNamed({ host, port })) return found
    for (const { address } of found) {
      const why = addresses.refuse(address, port)
      if (why !== undefined) throw new AddressRefused(`Cannot call "${host}": ${why}. ${howToAllow}`)
    }
    return found
  }

  const lookupFor =
    (port: number): LookupFunction =>
    (host, { all }, callback) => {
      resolveAddresses(host, port).then(
        (found) => {
          const [first] = found
          if (all) callback(null, [...found])
          else callback(null, first?.address ?? '', first?.family)
        },
        (cause: unknown) => callback(cause instanceof Error ? cause : new Error(String(cause)), ''),
      )
    }

  const open = async (): Promise<Dispatcher> => {
    const { Agent, buildConnector } = await import('undici')
    return new Agent({
      // One connector per connection, because the check depends on the port.
      connect(target, callback) {
        const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
        const host = target.hostname.includes(':') ? `[${unbracketed(target.hostname)}]` : target.hostname
        const refused = check(`${target.protocol}//${host}:${port}/`)
        if (refused) return callback(new AddressRefused(refused.message), null)
        buildConnector({ timeout: connectMs, lookup: lookupFor(port) })(target, callback)
      },
    })
  }

  return {
    check,
    async inspect(text) {
      const seen = check(text)
      if (seen) return seen
      const url = new URL(text)
      if (addresses.isLiteral(url.hostname)) return undefined
      try {
        await resolveAddresses(url.hostname, getPort(url))
        return undefined
      } catch (cause) {
        if (cause instanceof AddressRefused) return refusal(cause.message)
        const message = `Cannot resolve "${url.hostname}"`
        return refusal(message, 'Check the name, or register when it can be resolved')
      }
    },
    connections() {
      opened ??= open()
      return opened
    },
    async close() {
      await (await opened)?.destroy()
    },
  }
}

const howToAllow = 'The operator can allow it by name'

function refusal(message: string, hint = howToAllow): Issue {
  return { code: 'address/refused', at: { pointer: '' }, message, hint }
}

function getPort(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
}

function unbracketed(host: string): string {
  return host.replace(/^\[|\]$/g, '')
}

function resolveName(host: string) {
  return lookUp(host, { all: true, verbatim: true })
}
