/** Decides which addresses may be called: public ones, and the ones the operator allows. Pure; used by `guard.ts`. */
import ipaddr from 'ipaddr.js'
import { ProvisoError } from '../../base/errors/error.ts'

export interface AddressRules {
  /** Allows loopback addresses, for development. Default false. */
  readonly allowLoopback?: boolean
  /** Private hosts, addresses or ranges to allow: `agents.internal`, `10.0.0.5:8080`, `10.1.0.0/16`. */
  readonly allow?: readonly string[]
}

export interface Target {
  /** As in a URL, brackets of IPv6 included or not. */
  readonly host: string
  readonly port: number
}

export interface Addresses {
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

export function addressRules({ allowLoopback = false, allow = [] }: AddressRules): Addresses {
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
