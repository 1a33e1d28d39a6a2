/** Types of the operations on a whole store: backup, restore, inspection. */
import type { AnchorCheck, AnchorProblem } from '../../../domain/ports/store.ts'

/** The state of a store that a backup has. */
export interface BackupManifest {
  readonly format: 'proviso-backup'
  readonly version: 1
  readonly kind: 'sqlite' | 'postgres'
  readonly createdAt: string
  readonly bytes: number
  readonly sha256: string
  readonly runs: number
  readonly events: number
  /** Identifies the database file; of SQLite only. */
  readonly storeId?: string
  /** The last commit of the chain and its hash; of SQLite only. */
  readonly commit?: number
  readonly head?: string
  /** Runs that were erased from the store after the backup was made; `restore` erases them again. */
  readonly erased?: readonly {
    readonly receiptId: string
    readonly at: string
    readonly runIds: readonly string[]
  }[]
}

export interface BackupOptions {
  /** File of the backup; the manifest is written beside it. */
  readonly to: string
  /** Overwrite a backup. Default false. */
  readonly force?: boolean
  /** Report what would be written. Default false. */
  readonly dryRun?: boolean
  readonly onProgress?: (progress: Progress) => void
}

export interface Progress {
  readonly done: number
  /** Absent if unknown. */
  readonly total?: number
  readonly unit: 'bytes' | 'rows'
}

export interface BackupResult {
  readonly to: string
  readonly dryRun: boolean
  readonly manifest?: BackupManifest
  /** Estimated size. */
  readonly bytes: number
  /** Whether the store had all acknowledged commits; `absent` if it keeps no anchor. */
  readonly anchor: 'ok' | 'lost' | 'absent'
}

export interface RestoreOptions {
  readonly from: string
  /** Replace a store that exists; its files are kept under another name. Default false. */
  readonly force?: boolean
  readonly dryRun?: boolean
  readonly onProgress?: (progress: Progress) => void
}

export interface RestoreResult {
  readonly manifest: BackupManifest
  readonly dryRun: boolean
  /** Where the files of the store that was replaced are kept. */
  readonly keptAs?: string
  /** Acknowledged commits that are younger than the backup, by the anchor; absent if that is unknown. */
  readonly newerCommits?: number
}

/** One result of an inspection. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly detail: string
  readonly hint?: string
}

/** Commits of a store, and the runs and events after them. */
export interface CommitCounts {
  readonly commits: number
  readonly runs: number
  readonly events: number
}

/** What is given up with a store that has lost acknowledged commits. */
export interface AcceptedLoss {
  readonly dryRun: boolean
  /** Empty: nothing is lost, and nothing was done. */
  readonly problems: readonly AnchorProblem[]
  /** By the anchor. */
  readonly acknowledged: CommitCounts
  readonly file: CommitCounts
  readonly lost: CommitCounts
  /** Where the anchor is kept. */
  readonly keptAs?: string
}

export interface StoreOperations {
  backup(address: string, options: BackupOptions): Promise<BackupResult>
  restore(address: string, options: RestoreOptions): Promise<RestoreResult>
  inspect(address: string): Promise<readonly Finding[]>
  /** The losses of a store that does not exist any more, as far as its anchor says; undefined: it exists, or never did. */
  inspectMissing?(address: string): AnchorCheck | undefined
  /** Continues a store that has lost acknowledged commits. */
  acceptLoss(address: string, options: { readonly dryRun: boolean }): Promise<AcceptedLoss>
}
