/** An agent in TypeScript: registers, checks that it is Proviso who calls, answers, and says that it is alive. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

const { PROVISO_URL = 'http://127.0.0.1:3003', PROVISO_TOKEN = '', PORT = '4003' } = process.env
const about = { capabilityId: 'writer.en', version: '1.0.0', displayName: 'Writer', summary: 'Writes copy' }
const contracts = { inputContract: ['writerBrief'], outputContract: ['copyVariants'], idempotent: true }
let key = ''

/** The work: copy for a brief. A real agent would ask a model here. */
function write({ angle, keyPoints }: { angle: string; keyPoints: string[] }) {
  return { copyVariants: [{ headline: angle, body: keyPoints.join('. '), callToAction: 'Read more' }] }
}

function isGenuine(header: (name: string) => string, body: string): boolean {
  const timestamp = header('proviso-timestamp')
  // Before there is a key, anybody could sign with none.
  if (key === '' || !(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false
  const call = [header('proviso-run-id'), header('proviso-node-id')].map(decodeURIComponent)
  const signed = [timestamp, header('proviso-nonce'), ...call, header('proviso-attempt'), body].join('.')
  const wanted = Buffer.from(`v1=${createHmac('sha256', key).update(signed).digest('hex')}`)
  const given = header('proviso-signature').split(',')
  return given.some((each) => each.length === wanted.length && timingSafeEqual(Buffer.from(each), wanted))
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  if (!isGenuine((name) => String(request.headers[name] ?? ''), body))
    return void response.writeHead(401).end()
  // The same idempotency-key is the same call: an agent with side effects checks here whether it is done.
  const value = write(JSON.parse(body).inputs.writerBrief)
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

// What cannot be read is refused; it is not the end of the agent.
const refuse = (response: ServerResponse) => () => void response.writeHead(400).end()
const server = createServer((request, response) => void answer(request, response).catch(refuse(response)))

async function proviso(method: string, path: string, body: object = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${PROVISO_TOKEN}`, 'content-type': 'application/json' }
  const url = `${PROVISO_URL}/api/v1/flex/capabilities${path}`
  return fetch(url, { method, headers, body: JSON.stringify(body) })
}

async function register(): Promise<number> {
  const endpoint = { url: `http://127.0.0.1:${PORT}/` }
  const heartbeat = { intervalSeconds: Number(process.env['HEARTBEAT_SECONDS'] ?? 30) }
  // A new key with every start, because the old one was kept nowhere.
  const given = { ...about, ...contracts, endpoint, heartbeat, rotateKey: true }
  const response = await proviso('POST', '/register', given)
  if (!response.ok) throw new Error(await response.text())
  key = ((await response.json()) as { signingKey: string }).signingKey
  return heartbeat.intervalSeconds
}

await new Promise<void>((resolve) => server.listen(Number(PORT), '127.0.0.1', resolve))
const beat = async () => (await proviso('PATCH', `/${about.capabilityId}`)).status === 404 && register()
setInterval(() => void beat().catch(console.error), (await register()) * 1000)
console.log(`${about.capabilityId} is registered and listens`)
