/** The typed client of the tests: `openapi-fetch` over the types that are made of the routes. */
import createFetchClient from 'openapi-fetch'
import type { paths } from '../seams/server.ts'

/** Requests and answers have the types of the document; paths that it does not have do not compile. */
export function createClient(address: string, token: string) {
  return createFetchClient<paths>({ baseUrl: address, headers: { authorization: `Bearer ${token}` } })
}
