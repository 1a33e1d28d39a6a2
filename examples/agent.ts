/** An agent over HTTP: registers with a Proviso server, answers its signed calls and sends heartbeats. */
import { serveAgent } from 'proviso/agent'
import { z } from 'zod'

const { PROVISO_URL = 'http://127.0.0.1:3003', PROVISO_TOKEN = '', PORT = '4003' } = process.env
const Brief = z.object({ angle: z.string(), keyPoints: z.array(z.string()) })
const Copy = z.object({ headline: z.string(), body: z.string(), callToAction: z.string() })

const agent = await serveAgent({
  id: 'writer.en',
  input: z.object({ writerBrief: Brief }),
  output: z.object({ copyVariants: z.array(Copy) }),
  run: ({ writerBrief: { angle, keyPoints } }) => ({
    copyVariants: [{ headline: angle, body: keyPoints.join('. '), callToAction: 'Read more' }],
  }),
  heartbeat: { intervalSeconds: Number(process.env['HEARTBEAT_SECONDS'] ?? 30) },
  server: { url: PROVISO_URL, token: PROVISO_TOKEN },
  port: Number(PORT),
})
console.log(`${agent.id} is registered and listens`)
