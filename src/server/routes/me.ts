/** `GET me`: who the token belongs to and what this server offers, so that a user interface shows only what is allowed. */
import { roles } from '../../domain/ports/records.ts'
import { text } from '../../domain/schemas/parts.ts'
import type { Route } from '../route.ts'
import { api, ok, refusals } from './parts.ts'

interface Offered {
  /** Development mode: no token is needed. */
  readonly development: boolean
  readonly sandbox: boolean
  readonly createPost: boolean
}

export function meRoute({ development, ...features }: Offered): Route {
  return {
    method: 'GET',
    path: `${api}/me`,
    operation: 'showCaller',
    summary: 'Get the name, role and tenant of the token, and the optional features of this server',
    roles: ['caller', 'operator', 'agent'],
    isControl: true,
    replies: {
      200: ok('The caller', {
        type: 'object',
        required: ['name', 'role', 'tenant', 'taskRoles', 'development', 'features'],
        properties: {
          name: { type: 'string' },
          role: { enum: roles },
          tenant: text,
          /** Roles of the person for tasks. */
          taskRoles: { type: 'array', items: text },
          development: { type: 'boolean' },
          features: {
            type: 'object',
            required: ['sandbox', 'createPost'],
            properties: { sandbox: { type: 'boolean' }, createPost: { type: 'boolean' } },
          },
        },
      }),
      ...refusals(),
    },
    async handle({ caller: { name, role, tenant, taskRoles = [] } }) {
      return { status: 200, body: { name, role, tenant, taskRoles: [...taskRoles], development, features } }
    },
  }
}
