/** Who brings due runs to processes. */
import { text, texts } from '../../../domain/schemas/parts.ts'
import type { ReadSetting, SettingTable } from './setting-row.ts'

export interface QueueSettings {
  readonly mode: 'local' | 'restate'
  readonly ingress: string
  readonly admin: string
  /** Absent: the host and port of the worker. */
  readonly address?: string
  readonly host: string
  readonly port: number
  readonly identityKeys: readonly string[]
  readonly service: string
}

export const queueTable = {
  'queue.mode': {
    schema: { enum: ['local', 'restate'] },
    otherwise: 'local',
    what: 'who brings due runs to workers: local, each polls the store; restate, a Restate server delivers them',
    env: ['PROVISO_QUEUE'],
  },
  'queue.ingress': {
    schema: text,
    otherwise: 'http://127.0.0.1:8080',
    what: 'URL where Restate takes requests',
    env: ['PROVISO_RESTATE_INGRESS'],
  },
  'queue.admin': {
    schema: text,
    otherwise: 'http://127.0.0.1:9070',
    what: 'URL of the admin API of Restate, where workers register',
    env: ['PROVISO_RESTATE_ADMIN'],
  },
  'queue.address': {
    schema: text,
    otherwise: null,
    what: 'URL under which Restate reaches the workers (default: the host and port of the worker)',
    env: ['PROVISO_RESTATE_ADDRESS'],
  },
  'queue.host': {
    schema: text,
    otherwise: '127.0.0.1',
    what: 'address where a worker listens for Restate',
    env: ['PROVISO_RESTATE_HOST'],
  },
  'queue.port': {
    schema: { type: 'integer', minimum: 0, maximum: 65_535 },
    otherwise: 9_080,
    what: 'port where a worker listens for Restate; 0 for a free one',
    env: ['PROVISO_RESTATE_PORT'],
  },
  'queue.identity_keys': {
    schema: texts,
    otherwise: [],
    what: 'public keys of the Restate server, publickeyv1_…; workers refuse requests without its signature',
    env: ['PROVISO_RESTATE_IDENTITY_KEYS'],
  },
  'queue.service': {
    schema: text,
    otherwise: 'proviso-run',
    what: 'name of the Restate service; installations that share a server need different ones',
    env: ['PROVISO_RESTATE_SERVICE'],
  },
} as const satisfies SettingTable

export function readQueueSettings(at: ReadSetting<typeof queueTable>): QueueSettings {
  const address = at<string | null>('queue.address')
  return {
    mode: at('queue.mode'),
    ingress: at('queue.ingress'),
    admin: at('queue.admin'),
    ...(address !== null && { address }),
    host: at('queue.host'),
    port: at('queue.port'),
    identityKeys: at('queue.identity_keys'),
    service: at('queue.service'),
  }
}
