/** What an open stream costs in memory while nothing happens: the connection, and a cursor. */
import { table } from '../lib/table.mjs'
import { createClient } from '../servers/client.mjs'
import { endless } from '../servers/plan.mjs'
import { startServer } from '../servers/start.mjs'

export async function streams({ quick }) {
  const count = quick ? 500 : 2_000
  const server = await startServer()
  const client = createClient(server.url)
  try {
    const runId = await client.begin(endless)
    // What the first connections make for good is not the cost of the others.
    const first = await open(client, runId, 100)
    const before = await server.ask('memory')
    const more = await open(client, runId, count)
    const after = await server.ask('memory')
    for (const response of [...first, ...more]) response.destroy()
    return {
      streams: after.streams - before.streams,
      heldPerStream: (after.held - before.held) / count,
      residentPerStream: (after.resident - before.resident) / count,
    }
  } finally {
    client.close()
    await server.close()
  }
}

async function open(client, runId, count) {
  const opened = []
  while (opened.length < count)
    opened.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(100, count - opened.length) }, () => client.watch(runId)),
      )),
    )
  return opened
}

const kb = (bytes) => `${(bytes / 1024).toFixed(1)} kB`

export function showStreams({ streams: count, heldPerStream, residentPerStream }) {
  return table(
    ['streams that are open', 'heap and buffers each', 'resident each'],
    [[count, kb(heldPerStream), kb(residentPerStream)]],
  )
}
