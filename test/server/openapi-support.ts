/** Holds real answers of a server to its own OpenAPI document; any test that speaks HTTP can use it. */
import type { Json, JsonSchema } from '../../src/index.ts'
import { openApiDocument, type Route } from '../../src/server/index.ts'
import { compileSchema } from '../seams/schema.ts'

interface Content {
  readonly [type: string]: { readonly schema?: JsonSchema }
}
interface Document {
  readonly paths: {
    readonly [path: string]: {
      readonly [method: string]: {
        readonly responses: {
          readonly [status: string]: { readonly $ref?: string; readonly content?: Content }
        }
      }
    }
  }
  readonly components: {
    readonly schemas: { readonly [name: string]: JsonSchema }
    readonly responses: { readonly [name: string]: { readonly content?: Content } }
  }
}

/** What is wrong with an answer by the document; nothing if it is as declared. */
export type Contradiction = string | undefined

export function createConformance(routes: readonly Route[]) {
  const document = openApiDocument(routes, { version: 'test' }) as unknown as Document
  const table = routes.map((route) => ({
    method: route.method,
    pattern: new RegExp(`^${route.path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}$`),
    operation: document.paths[route.path.replace(/:(\w+)/g, '{$1}')]?.[route.method.toLowerCase()],
  }))
  const schemaOf = ({ schema }: { readonly schema?: JsonSchema }) => {
    const [, name] = /#\/components\/schemas\/(\w+)/.exec(JSON.stringify(schema ?? {})) ?? []
    return typeof schema === 'object' && '$ref' in schema && name ? document.components.schemas[name] : schema
  }
  return {
    document,
    /** Reads a copy of the answer; streams are left to their readers. */
    async check(method: string, url: string, response: Response): Promise<Contradiction> {
      const { pathname } = new URL(url)
      const found = table.find((row) => row.method === method && row.pattern.test(pathname))
      // What no route is asked for is the server's own: a refusal, or the answer to a browser's preflight.
      if (!found && response.status < 400) return undefined
      const declared = found?.operation?.responses[String(response.status)]
      if (!declared && response.status < 400)
        return `${method} ${pathname} does not declare ${response.status}`
      const content = (declared ?? document.components.responses['Refused'])?.content
      const type = response.headers.get('content-type')?.split(';')[0]
      if (content === undefined)
        return type === undefined ? undefined : `${method} ${pathname}: a body that is not declared`
      const shape = type === undefined ? undefined : content[type]
      if (!shape)
        return `${method} ${pathname} ${response.status}: ${type ?? 'no body'} instead of ${Object.keys(content).join(' or ')}`
      if (method === 'HEAD' || type === 'text/event-stream' || type === 'text/plain') return undefined
      const body = (await response.clone().json()) as Json
      const [issue] = compileSchema(schemaOf(shape) ?? true).validate(body)
      return issue && `${method} ${pathname} ${response.status}: ${JSON.stringify(issue)}`
    },
  }
}
