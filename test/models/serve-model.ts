/** Starts scripted model servers, and closes them after each test. */
import { afterEachTest } from '../cleanup.ts'
import { type OpenAiServer, openAiServer } from './openai-server.ts'

const servers: OpenAiServer[] = []
afterEachTest(async () => {
  for (const server of servers.splice(0)) await server.close()
})

export async function serveModel(replies: Parameters<typeof openAiServer>[0]): Promise<OpenAiServer> {
  const server = await openAiServer(replies)
  servers.push(server)
  return server
}
