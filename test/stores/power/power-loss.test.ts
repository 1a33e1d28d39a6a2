/**
 * Power loss: what `proviso serve` acknowledges over HTTP is on the disk. A library under the process records every write,
 * sync and response in order; the disk is then computed as a power failure may leave it, at many moments: nothing that was
 * not synced survives, everything does, or any sectors do. Needs a C compiler and Linux.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { openSqliteStore } from '../../../src/adapters/stores/sqlite/sqlite.ts'
import { servedStores } from '../served-store.ts'
import { Disk, type Fate, type IoRecord, parseRecords } from './disk-images.ts'

const { path, serve } = servedStores()
const isLong = process.env['PROVISO_LONG'] === '1'
const runs = isLong ? 200 : 24
/** Every so many records, the power fails. */
const every = isLong ? 3 : 12

const compiler = spawnSync('cc', ['--version']).status === 0 && process.platform === 'linux'
if (!compiler) console.warn('There is no C compiler here, the test of power loss is skipped')

describe.skipIf(!compiler)('a power failure', () => {
  let records: readonly IoRecord[] = []
  let folder = ''
  beforeAll(async () => {
    const library = path('record-io.so')
    const source = join(import.meta.dirname, 'record-io.c')
    const built = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl', '-lpthread'], {
      encoding: 'utf8',
    })
    expect(built.stderr).toBe('')
    folder = path('disk')
    mkdirSync(folder)
    const log = path('io.log')
    const env = { LD_PRELOAD: library, IO_FOLDER: folder, IO_LOG: log, UV_USE_IO_URING: '0' }
    // A server that stops writes the log back into the database and deletes it.
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const server = await serve(join(folder, 'runs.db'), [], env)
      let started = 0
      const client = async () => {
        while (started++ < runs / 2) await server.complete()
      }
      await Promise.all(Array.from({ length: 4 }, client))
      await server.kill(signal)
    }
    records = parseRecords(readFileSync(log))
  }, 120_000)

  it('loses nothing that was acknowledged, wherever it comes and whatever it leaves', async () => {
    const { images, lost, acknowledged } = await failEverywhere(records, folder)
    expect(acknowledged).toBe(runs)
    expect(images).toBeGreaterThan(60)
    expect(lost).toEqual([])
  })

  it.each([
    ['log', '-wal'],
    ['database', '.db'],
  ])(
    'is seen by this test: a %s that is not synced from the first response on loses acknowledged runs',
    async (_, end) => {
      const { lost } = await failEverywhere(records, folder, (file) => file.endsWith(end))
      expect(lost.length).toBeGreaterThan(0)
    },
  )

  /** Lets the power fail at many moments, and returns the acknowledged runs that are missing then. */
  async function failEverywhere(
    all: readonly IoRecord[],
    inside: string,
    ignoresSync?: (file: string) => boolean,
  ) {
    const acknowledged = new Set<string>()
    const disk = new Disk(inside, (file) => acknowledged.size > 0 && ignoresSync?.(file) === true)
    const lost: string[] = []
    let images = 0
    for (const [index, record] of all.entries()) {
      disk.apply(record, index)
      const runId = readCompleted(record)
      if (runId !== undefined) acknowledged.add(runId)
      if (acknowledged.size === 0 || (runId === undefined && index % every !== 0)) continue
      for (const [name, fate] of Object.entries(fates(index))) {
        images++
        const image = path(`image-${images}`)
        disk.writeImage(image, fate)
        for (const missing of await findMissing(join(image, 'runs.db'), acknowledged))
          lost.push(`record ${index}, ${name}: ${missing}`)
        rmSync(image, { recursive: true })
      }
      if (lost.length > 0 && ignoresSync) break
    }
    return { images, lost, acknowledged: acknowledged.size }
  }
})

/** A pseudo-random choice that depends on the moment only. */
const fates = (seed: number): Readonly<Record<string, Fate>> => ({
  none: { survives: () => false, names: 'synced' },
  'only names': { survives: () => false, names: 'last' },
  all: { survives: () => true, names: 'last' },
  some: {
    survives: (index, sector) => (Math.imul(seed * 31 + index * 17 + sector, 0x9e3779b1) >>> 16) % 2 === 0,
    names: seed % 2 === 0 ? 'last' : 'synced',
  },
})

/** The run of a response that says it is completed. */
function readCompleted({ op, data }: IoRecord): string | undefined {
  if (op !== 'A') return undefined
  const text = data.toString()
  return text.includes('"status":"completed"') ? /"runId":"([^"]+)"/.exec(text)?.[1] : undefined
}

/** Opens the database as a server does after the failure. */
async function findMissing(file: string, acknowledged: ReadonlySet<string>): Promise<string[]> {
  const missing: string[] = []
  const store = await openSqliteStore({ path: file }).catch((cause: unknown) => String(cause))
  if (typeof store === 'string') return [store]
  for (const runId of acknowledged) if ((await store.head(runId))?.status !== 'completed') missing.push(runId)
  await store.close()
  return missing
}
