/**
 * Protection against SSRF for calls to untrusted URLs. The check is made when the connection is opened, on the resolved address, so that
 * a name cannot change its meaning in between (DNS rebinding). Callers do not follow redirects.
 */

import { lookup as lookUp } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Dispatcher } from 'undici'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'

export interface AddressFilterOptions extends AddressRules {
  /** Schemes for hosts that are not named in `allow`. Default `https:` alone; loopback may use both when it is allowed. */
  readonly schemes?: readonly ('http:' | 'https:')[]
  /** Ports for hosts that are not named in `allow`. Default 443 alone; loopback may use any when it is allowed. */
  readonly ports?: readonly number[] | 'any'
  /** How names become addresses. Default: as the machine does it. */
  readonly resolve?: (
    host: string,
  ) => Promise<readonly { readonly address: string; readonly family: number }[]>
}

export interface AddressFilter {
  /** Checks the URL without a lookup: its scheme, port, credentials and, if it has one, its address. */
  check(url: string): Issue | undefined
  /** The same with a lookup of the name; calls are checked again. */
  inspect(url: string): Promise<Issue | undefined>
  /** Dispatcher for checked connections; loaded on the first call. */
  connections(): Promise<Dispatcher>
  close(): Promise<void>
}

/** A refused connection. The message names the fix. */
class AddressRefused extends Error {
  override readonly name = 'AddressRefused'
  readonly code = 'PROVISO_ADDRESS_REFUSED'
}

const connectMs = 10_000

export function createAddressFilter(options: AddressFilterOptions = {}): AddressFilter {
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
      // Names of this network must not be looked up through the message: it does not contain the address.
      if (why !== undefined)
        throw new AddressRefused(
          `Cannot call "${host}": it resolves to an address that is not public. ${howToAllow}`,
        )
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

// Which addresses may be called: public ones, and the ones the operator allows. Pure.

interface AddressRules {
  /** Allows loopback addresses, for development. Default false. */
  readonly allowLoopback?: boolean
  /** Private hosts, addresses or ranges to allow: `agents.internal`, `10.0.0.5:8080`, `10.1.0.0/16`. */
  readonly allow?: readonly string[]
}

interface Target {
  /** As in a URL, brackets of IPv6 included or not. */
  readonly host: string
  readonly port: number
}

interface Addresses {
  /** Whether the operator allows this host by name, so that its addresses are not checked. */
  isNamed(target: Target): boolean
  /** Returns why an address may not be called; `undefined` if it may. */
  refuse(address: string, port: number): string | undefined
  /** Whether the host is an address, so that no lookup follows. */
  isLiteral(host: string): boolean
  /** Whether the host is, or resolves to, this machine by name. */
  isLoopback(host: string): boolean
}

interface Entry {
  readonly host: string
  readonly port: number | undefined
  readonly range: readonly [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined
}

function addressRules({ allowLoopback = false, allow = [] }: AddressRules): Addresses {
  const entries = allow.map(readEntry)
  const isNamed = ({ host, port }: Target) =>
    entries.some((entry) => entry.range === undefined && entry.host === bare(host) && fits(entry, port))
  return {
    isNamed,
    isLiteral: (host) => ipaddr.isValid(bare(host)),
    isLoopback: (host) => /^localhost$|\.localhost$/.test(bare(host)) || toRange(bare(host)) === 'loopback',
    refuse(address, port) {
      if (!ipaddr.isValid(address)) return `"${address}" is not an address`
      const parsed = ipaddr.process(address)
      const range = toRange(address)
      if (range === 'unicast' || (range === 'loopback' && allowLoopback)) return undefined
      if (isNamed({ host: address, port })) return undefined
      if (entries.some((entry) => entry.range && fits(entry, port) && inRange(parsed, entry.range)))
        return undefined
      return `the address ${address} is not public (${range})`
    },
  }
}

function fits(entry: Entry, port: number): boolean {
  return entry.port === undefined || entry.port === port
}

/** Lower case, without brackets and without the dot that ends a full name. */
function bare(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
}

/** The kind of an address; IPv4 inside IPv6 counts as IPv4, and IPv6 outside 2000::/3 is never public. */
function toRange(address: string): string {
  if (!ipaddr.isValid(address)) return 'no address'
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  if (range !== 'unicast' || parsed.kind() === 'ipv4') return range
  return parsed.match(globalUnicast) ? range : 'reserved'
}

/** Old forms such as `::127.0.0.1` lie outside. */
const globalUnicast = ipaddr.parseCIDR('2000::/3')

function inRange(
  address: ipaddr.IPv4 | ipaddr.IPv6,
  range: readonly [ipaddr.IPv4 | ipaddr.IPv6, number],
): boolean {
  return address.kind() === range[0].kind() && address.match([range[0], range[1]])
}

function readEntry(text: string): Entry {
  if (text.includes('/')) {
    if (!ipaddr.isValidCIDR(text)) throw wrong(text)
    return { host: '', port: undefined, range: ipaddr.parseCIDR(text) }
  }
  if (ipaddr.isValid(text)) return { host: text.toLowerCase(), port: undefined, range: undefined }
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i.exec(text.trim()) ?? []
  if (host === undefined || Number(port ?? 0) > 65_535) throw wrong(text)
  return { host: bare(host), port: port === undefined ? undefined : Number(port), range: undefined }
}

function wrong(text: string): ProvisoError {
  return new ProvisoError('option/invalid', `"${text}" is not a host, address or range`, {
    hint: 'Write agents.internal, agents.internal:8080, 10.0.0.5 or 10.1.0.0/16',
  })
}
