/** `proviso erase`: erases one run, or everything about a subject, and prints a receipt. */

import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { canonicalJson, sha256Hex } from '../../base/canonical.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject } from '../../base/json.ts'
import {
  type EraseRequest,
  type ErasurePreview,
  type ErasureReceipt,
  eraseRuns,
  previewErasure,
} from '../../engine/erase.ts'
import { confirm } from '../confirm.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { count } from '../one-line.ts'
import { addByOption, chooseName } from '../options/by-option.ts'
import { addStoreOption, chooseExistingStore, readStore, writeStore } from '../options/store-option.ts'
import { colors, printJson, printNote, printText, refuse } from '../print.ts'

interface Flags {
  readonly run?: string
  readonly subject?: string
  readonly tenant?: string
  readonly reason?: string
  readonly dryRun?: boolean
  readonly yes?: true
  readonly backups?: string
  readonly receipt?: string
  readonly by?: string
  readonly store?: string
  readonly json?: true
}

const examples = `
A subject is the person that a run is about: \`metadata.subject\` of its envelope, a text or a list of texts.
The run and all its data are deleted, including large values, stored answers and the bytes in the files of a SQLite store.
The operations audit keeps the run id, the number of events and a hash of the receipt: see \`proviso audit\`.

Examples:
  proviso erase --subject customer-4711 --dry-run --store sqlite:runs.db
  proviso erase --subject customer-4711 --reason "request of 2 May" --yes --json --store sqlite:runs.db > receipt.json
  proviso erase --run 0198b6f2 --store postgres://…

While a server has a SQLite store open, use POST /api/v1/flex/erase, save the receipt that it returns, and mark the backups:
  proviso erase --receipt receipt.json --backups /var/backups/proviso

${describeExitCodes(['ok', 'usage', 'unmet'])}`

export function addEraseCommand(program: Command): void {
  const command = program
    .command('erase')
    .summary('erase a run, or everything about a subject')
    .description(
      'erase finished runs with all their data, after a preview and a confirmation, and print a receipt',
    )
    .option('--run <id>', 'erase one run')
    .option('--subject <name>', 'erase every run with this `metadata.subject`')
    .option('--tenant <tenant>', 'filter by tenant')
    .option('--reason <text>', 'reason, for the receipt')
    .option('--dry-run', 'print what would be erased, without erasing')
    .option('--backups <folder>', 'mark the backups in this folder: their manifests name the erased runs')
    .option('--receipt <file>', 'erase nothing: mark the backups of an erasure by a server, with --backups')
    .option('--yes', 'skip the confirmation')
  addStoreOption(addByOption(command))
    .option('--json', 'print the receipt, or the preview, as one line of JSON')
    .addHelpText('after', examples)
    .action(async (flags: Flags) => {
      process.exitCode = await erase(flags)
    })
}

async function erase(flags: Flags): Promise<number> {
  if (flags.receipt !== undefined) return markByReceipt(flags.receipt, flags)
  const { run, subject, tenant, reason, dryRun, yes, json } = flags
  if (Boolean(run) === Boolean(subject))
    throw new ProvisoError('option/invalid', 'Cannot erase: give either a run id or a subject', {
      hint: 'Pass --run ID, or --subject NAME as it is in `metadata.subject` of the envelopes',
    })
  const store = chooseExistingStore(flags.store)
  const manifests = flags.backups === undefined ? [] : findManifests(flags.backups)
  const request: EraseRequest = {
    by: chooseName(flags.by),
    ...(run !== undefined && { runId: run }),
    ...(subject !== undefined && { subject }),
    ...(tenant !== undefined && { tenant }),
    ...(reason !== undefined && { reason }),
  }
  if (dryRun || !yes) {
    const would = await readStore(store, (opened) => previewErasure(opened, request))
    if (dryRun && json) printJson({ dryRun: true, ...would }, 'line')
    else printPreview(would)
    if (dryRun) return exitCode('ok')
    const answer = await confirm('Erase?')
    if (answer === undefined) return refuse(unanswered)
    if (!answer) {
      printNote('Nothing was erased.')
      return exitCode('ok')
    }
  }
  // Only this step opens the store for writing, so that a preview works while another process has it open.
  const receipt = await writeStore(store, (opened) => eraseRuns(opened, request))
  markBackups(manifests, receipt)
  if (json) printJson({ ...receipt, ...(flags.backups !== undefined && { backups: manifests }) }, 'line')
  else printReceipt(receipt)
  if (flags.backups !== undefined) printMarked(manifests, flags.backups)
  for (const line of receipt.residue) printNote(`${colors.yellow('!')} ${line}.`)
  return exitCode(receipt.residue.length === 0 ? 'ok' : 'unmet')
}

const unanswered = {
  message: 'Cannot erase runs: no answer on stdin',
  hint: 'Pass --yes, or preview with --dry-run',
}

function printPreview({ runs, events, values, sharedValues, answers, unfinished }: ErasurePreview): void {
  for (const { runId, tenant, status } of runs) printText(`${runId}  ${status}  ${tenant}`)
  printNote(`Would erase: ${inWords({ runs: runs.length, events, values, answers })}.`)
  if (sharedValues > 0) printNote(`${count(sharedValues, 'large value')} would stay: other runs use them.`)
  if (unfinished.length > 0)
    printNote(`${colors.yellow('!')} Not over, cancel them first: ${unfinished.join(', ')}.`)
}

function printReceipt({ receiptId, at, runs, deleted, sharedValues, hash, audit }: ErasureReceipt): void {
  for (const { runId } of runs) printText(runId)
  printNote(`Erased: ${inWords(deleted)}.`)
  if (sharedValues > 0) printNote(`${count(sharedValues, 'large value')} stayed: other runs use them.`)
  printNote(`Receipt ${receiptId} of ${at}, row ${audit.seq} of the operations audit, SHA-256 ${hash}`)
}

function inWords({ runs, events, values, answers }: ErasureReceipt['deleted']): string {
  return `${count(runs, 'run')} with ${count(events, 'event')}, ${count(values, 'large value')}, ${count(answers, 'stored answer')}`
}

// Marks backups after an erasure: the manifest beside each backup names the runs that were erased since, so that they are
// erased again when the backup is restored.

const suffix = '.manifest.json'

function printMarked(manifests: readonly string[], folder: string): void {
  printNote(
    `Marked ${count(manifests.length, 'backup')} in ${folder}: \`proviso restore\` erases the runs again.`,
  )
}

/** Marks the backups of an erasure that a server did: the route knows no folder of backups, and the store is in use. */
function markByReceipt(path: string, { backups, run, subject, dryRun, json }: Flags): number {
  if (backups === undefined || run !== undefined || subject !== undefined)
    return refuse({
      message: 'Cannot mark backups: --receipt needs --backups, and neither --run nor --subject',
      hint: 'Pass the folder of the backups with --backups',
    })
  const receipt = readReceipt(path)
  const manifests = findManifests(backups)
  if (!dryRun) markBackups(manifests, receipt)
  const { receiptId, runs } = receipt
  if (json) printJson({ ...(dryRun && { dryRun }), receiptId, runs: runs.length, backups: manifests }, 'line')
  else if (dryRun) printNote(`Would mark ${count(manifests.length, 'backup')} in ${backups}.`)
  else printMarked(manifests, backups)
  return exitCode('ok')
}

/** Throws for anything but a whole receipt: its hash is over all but the members that follow from the audit. */
function readReceipt(path: string): ErasureReceipt {
  try {
    const receipt = JSON.parse(readFileSync(path, 'utf8')) as ErasureReceipt & { readonly backups?: unknown }
    const { hash, at: _at, audit: _audit, backups: _backups, ...hashed } = receipt
    if (hash === sha256Hex(canonicalJson(hashed))) return receipt
  } catch (cause) {
    throw new ProvisoError('option/invalid', `Cannot read the receipt ${path}`, {
      hint: 'Pass a file with the response of POST /api/v1/flex/erase',
      cause,
    })
  }
  throw new ProvisoError('option/invalid', `Cannot use the receipt ${path}: it does not match its hash`, {
    hint: 'Pass the whole response of POST /api/v1/flex/erase, unchanged',
  })
}

/** Returns the manifests of all backups in a folder. Throws if it cannot be read, before anything is erased. */
function findManifests(folder: string): readonly string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new ProvisoError('option/invalid', `Cannot mark backups in ${folder}: it is not a folder`, {
      hint: 'Pass the folder of the files that `proviso backup` wrote',
    })
  return readdirSync(folder)
    .filter((name) => name.endsWith(suffix))
    .sort()
    .map((name) => join(folder, name))
    .filter((path) => readManifest(path) !== undefined)
}

/** Adds the erased runs to each manifest. The checksum of the backup does not cover its manifest. */
function markBackups(manifests: readonly string[], { receiptId, at, runs }: ErasureReceipt): void {
  const mark = { receiptId, at, runIds: runs.map(({ runId }) => runId) }
  for (const path of manifests) {
    const manifest = readManifest(path)
    if (manifest === undefined) continue
    const before: unknown[] = Array.isArray(manifest['erased']) ? manifest['erased'] : []
    // Marked before.
    if (before.some((each) => isObject(each) && each['receiptId'] === receiptId)) continue
    const text = `${JSON.stringify({ ...manifest, erased: [...before, mark] }, null, 2)}\n`
    writeFileSync(`${path}.partial`, text)
    renameSync(`${path}.partial`, path)
  }
}

function readManifest(path: string): { readonly [name: string]: unknown } | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(manifest) && manifest['format'] === 'proviso-backup' ? manifest : undefined
  } catch (cause) {
    throw new ProvisoError('option/invalid', `Cannot read the manifest ${path}`, {
      hint: 'Repair or remove it, then erase again',
      cause,
    })
  }
}
