/**
 * Computes what a disk may hold after a power failure, from the record of `record-io.c`. Certain is only what was synced:
 * of a file, the writes before the last completed sync of that file began; of a name, what was there when the last completed
 * sync of the folder began. Of all later writes, any set of sectors may be on the disk, and so may new, changed and deleted
 * names: file systems write these on their own, often before the contents.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export interface IoRecord {
  readonly op: string
  readonly at: number
  readonly path: string
  readonly data: Buffer
}

export function parseRecords(log: Buffer): IoRecord[] {
  const records: IoRecord[] = []
  for (let at = 0; at < log.length; ) {
    const [pathLength, dataLength] = [log.readUInt32LE(at + 9), log.readUInt32LE(at + 13)]
    const path = log.toString('utf8', at + 17, at + 17 + pathLength)
    const data = log.subarray(at + 17 + pathLength, at + 17 + pathLength + dataLength)
    records.push({
      op: String.fromCharCode(log[at] ?? 0),
      at: Number(log.readBigInt64LE(at + 1)),
      path,
      data,
    })
    at += 17 + pathLength + dataLength
  }
  return records
}

interface DiskFile {
  /** What certainly is on the disk. */
  content: Buffer
  /** Later changes, in order, each with the index of its record. */
  pending: { readonly index: number; readonly record: IoRecord }[]
}

const sector = 512

/** Which of the changes that were not synced have reached the disk. */
export interface Fate {
  /** Of contents, sector by sector. */
  readonly survives: (index: number, sector: number) => boolean
  /** Whether names are as they were last, or as they were synced. */
  readonly names: 'last' | 'synced'
}

/** A disk that is written to, record by record. */
export class Disk {
  private readonly names = new Map<string, DiskFile>()
  private durable = new Map<string, DiskFile>()
  /** Names, or the number of records, when a sync began. */
  private readonly begun = new Map<
    string,
    { readonly names: Map<string, DiskFile>; readonly index: number }
  >()
  private readonly folder: string
  private readonly ignoresSync: (path: string) => boolean

  constructor(folder: string, ignoresSync: (path: string) => boolean = () => false) {
    this.folder = folder
    this.ignoresSync = ignoresSync
  }

  apply(record: IoRecord, index: number): void {
    const { op, at, path, data } = record
    const sync = `${path} ${at}`
    if (op === 'C') this.names.set(path, { content: Buffer.alloc(0), pending: [] })
    else if (op === 'U') this.names.delete(path)
    else if (op === 'R') this.rename(path, data.toString())
    else if (op === 'W' || op === 'T') this.names.get(path)?.pending.push({ index, record })
    else if (op === 'B') this.begun.set(sync, { names: new Map(this.names), index })
    else if (op === 'S') this.finishSync(path, this.begun.get(sync))
  }

  private rename(from: string, to: string): void {
    const file = this.names.get(from)
    this.names.delete(from)
    if (file) this.names.set(to, file)
  }

  private finishSync(path: string, begun: { names: Map<string, DiskFile>; index: number } | undefined): void {
    if (begun === undefined || this.ignoresSync(path)) return
    if (path === this.folder) {
      this.durable = begun.names
      return
    }
    const file = begun.names.get(path)
    if (file === undefined) return
    const done = file.pending.filter(({ index }) => index < begun.index)
    file.content = applyChanges(file.content, done, () => true)
    file.pending = file.pending.filter(({ index }) => index >= begun.index)
  }

  /** Writes the files as they may be found after a power failure now. */
  writeImage(into: string, { survives, names }: Fate): void {
    mkdirSync(into)
    for (const [path, { content, pending }] of names === 'last' ? this.names : this.durable) {
      // The index of the log is built anew; the lock has no content.
      if (/-(shm|writer|probe)$/.test(path)) continue
      writeFileSync(join(into, basename(path)), applyChanges(content, pending, survives))
    }
  }
}

function applyChanges(before: Buffer, changes: DiskFile['pending'], survives: Fate['survives']): Buffer {
  const size = changes.reduce(
    (most, { record }) => Math.max(most, record.at + record.data.length),
    before.length,
  )
  const content = Buffer.alloc(size)
  before.copy(content)
  let length = before.length
  for (const { index, record } of changes) {
    if (record.op === 'T') {
      if (!survives(index, 0)) continue
      if (record.at < length) content.fill(0, record.at, length)
      length = record.at
      continue
    }
    for (let from = 0; from < record.data.length; from += sector) {
      if (!survives(index, from / sector)) continue
      const to = Math.min(from + sector, record.data.length)
      record.data.copy(content, record.at + from, from, to)
      length = Math.max(length, record.at + to)
    }
  }
  return content.subarray(0, length)
}
