/** The bench of the server over real HTTP: many runs with streams at once, on SQLite and on PostgreSQL, and what a stream costs that is open. */
import { runBench } from './lib/bench.mjs'
import { load, showLoad } from './sections/load.mjs'
import { postgres, showPostgres } from './sections/postgres.mjs'
import { showStreams, streams } from './sections/streams.mjs'

await runBench(
  'server',
  [
    ['load', load, showLoad],
    ['postgres', postgres, showPostgres],
    ['streams', streams, showStreams],
  ],
  ['--against'],
)
