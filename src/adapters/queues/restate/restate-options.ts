/** Options of the Restate queue, their defaults and their rules. */
import { isObject } from '../../../base/json.ts'
import { type Check, each, must, name, object, rowIssues } from '../../../base/option-rows.ts'

export interface RestateOptions {
  readonly kind: 'restate'
  /** URL where Restate takes requests. Default `http://127.0.0.1:8080`. */
  readonly ingress?: string
  /** URL of Restate's admin API, where workers register. Default `http://127.0.0.1:9070`. */
  readonly admin?: string
  /**
   * URL under which Restate reaches the workers: this one, or a load balancer in front of all workers of this version.
   * Default: the host and port of this worker.
   */
  readonly address?: string
  /** Where this worker listens for Restate. Default host `127.0.0.1`, port 9080; 0 for a free one. */
  readonly host?: string
  readonly port?: number
  /** Public keys of the Restate server (`publickeyv1_…`): requests that it has not signed are refused. Default: none. */
  readonly identityKeys?: readonly string[]
  /** Sent to ingress and admin API as a bearer token. */
  readonly token?: string
  /** Name of the Restate service. Two installations on one Restate server need different ones. Default `proviso-run`. */
  readonly service?: string
}

export const restateDefaults = {
  ingress: 'http://127.0.0.1:8080',
  admin: 'http://127.0.0.1:9070',
  host: '127.0.0.1',
  port: 9080,
  service: 'proviso-run',
} as const

const url = must(
  (value) => typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
  'an http or https URL',
  'http://127.0.0.1:8080',
)

const rows = {
  kind: must((value) => value === 'restate', '"restate"'),
  ingress: url,
  admin: url,
  address: url,
  host: name,
  port: must(
    (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
    'a port from 0 to 65535',
  ),
  identityKeys: each(
    must((value) => typeof value === 'string' && value.startsWith('publickeyv1_'), 'a key publickeyv1_…'),
  ),
  token: name,
  service: must(
    (value) => typeof value === 'string' && /^[a-z][\w.-]*$/i.test(value),
    'a letter, followed by letters, digits, ".", "_" or "-"',
  ),
} satisfies { readonly [K in keyof Required<RestateOptions>]: Check }

export const checkRestateOptions: Check = (value, at) =>
  isObject(value) ? rowIssues(value, at, rows) : object(value, at)
