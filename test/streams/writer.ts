/**
 * A process that appends to one run as fast as it can, against another that does the same, until its input ends. Every append
 * is at the expected sequence: the second writer retries behind the first.
 */
import { openPostgresStore } from '../../src/adapters/stores/postgres/postgres.ts'
import { Random } from '../random.ts'
import { sampleEvent } from '../seams/stores.ts'

export interface WriterTask {
  readonly url: string
  readonly runId: string
  readonly seed: number
}

const { url, runId, seed } = JSON.parse(process.argv[2] ?? '{}') as WriterTask
const random = new Random(seed)
const store = await openPostgresStore({ url })
let stopped = false
process.stdin.on('end', () => {
  stopped = true
})
process.stdin.resume()

let written = 0
let seq = (await store.head(runId))?.seq ?? 0
while (!stopped) {
  const events = Array.from({ length: random.int(1, 5) }, (_, index) =>
    sampleEvent(
      'log',
      {
        event: `writer-${seed}`,
        payload: { n: written + index, text: '\ndata: '.repeat(random.int(0, 60)) },
      },
      { planVersion: 0 },
    ),
  )
  const head = { status: 'pending', planVersion: 0 } as const
  const result = await store.append({ runId, expectedSeq: seq, events, head })
  if (result.kind === 'appended') written += events.length
  if ('seq' in result) seq = result.seq
  if (written === events.length) process.stdout.write('writing\n')
}
await store.close()
process.stdout.write(`${written}\n`)
