/** `proviso status`: queue, leases, stuck runs, asks and processes of a store. */
import type { Command } from 'commander'
import type { Labels } from '../../domain/placement.ts'
import { readStatus, type SystemStatus } from '../../engine/status.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { addStoreOption, chooseServersStore, readStore } from '../options/store-option.ts'
import { printJson, printText } from '../print.ts'
import { table } from '../render/table.ts'

interface Flags {
  readonly store?: string
  readonly json?: true
}

const help = `
Exit code 3 if runs are stuck: due for more than a minute, or quarantined. Over HTTP: GET /api/v1/flex/status.

Examples:
  proviso status --store postgres://…
  proviso status --json | jq .queue.lagMs

${describeExitCodes(['ok', 'usage', 'unmet'])}`

export function addStatusCommand(program: Command): void {
  addStoreOption(
    program
      .command('status')
      .summary('show queue, leases, stuck runs and processes')
      .description('show due runs, leases, stuck runs, open asks and the processes of a store'),
    'server',
  )
    .option('--json', 'print one JSON object')
    .addHelpText('after', help)
    .action(async ({ store, json }: Flags) => {
      const status = await readStore(chooseServersStore(store), readStatus)
      if (json) printJson(status, 'line')
      else printText(describe(status))
      process.exitCode = exitCode(status.stuck.length === 0 ? 'ok' : 'unmet')
    })
}

function describe({
  now,
  runs,
  queue,
  leases,
  stuck,
  oldestAsk,
  processes,
  limits,
  schedules,
}: SystemStatus): string {
  const age = (time: number) => `${Math.max(0, Math.round((now - time) / 1_000))} s`
  const counts = Object.entries(runs).map(([status, count]) => `${count} ${status}`)
  const next = schedules.nextAt === undefined ? '' : `, next at ${new Date(schedules.nextAt).toISOString()}`
  const parts = [
    `Runs       ${counts.join(', ') || 'none open'}`,
    `Queue      ${queue.due} due, oldest for ${Math.round(queue.lagMs / 1_000)} s`,
    `Asks       ${oldestAsk ? `oldest ${oldestAsk.requestId} of run ${oldestAsk.runId}, open for ${age(oldestAsk.createdAt)}` : 'none open'}`,
    `Schedules  ${schedules.active} active, ${schedules.inactive} paused or done${next}`,
  ]
  if (processes.length > 0)
    parts.push(
      '',
      table(
        ['PROCESS', 'ROLE', 'LABELS', 'RUNS', 'SEEN', 'UP', 'VERSION', 'STATE'],
        processes.map(({ owner, role, labels = {}, active, seenAt, startedAt, version, isAlive }) => [
          ...[
            owner,
            role,
            describeLabels(labels),
            String(active),
            `${age(seenAt)} ago`,
            age(startedAt),
            version,
          ],
          isAlive ? 'alive' : 'silent',
        ]),
      ),
    )
  const circuits = processes
    .filter(({ isAlive }) => isAlive)
    .flatMap(({ owner, circuits: open = [] }) => open.map((circuit) => ({ ...circuit, owner })))
  if (circuits.length > 0)
    parts.push(
      '',
      table(
        ['CIRCUIT', 'PROCESS', 'STATE', 'FAILURES', 'NEXT CALL'],
        circuits.map(({ name, owner, state, failures, until }) => [
          ...[name, owner, state, String(failures)],
          until <= now ? 'now' : `in ${Math.ceil((until - now) / 1_000)} s`,
        ]),
      ),
    )
  if (limits.length > 0)
    parts.push(
      '',
      table(
        ['LIMIT', 'AT ONCE', 'IN A TIME', 'HELD', 'WANTED'],
        limits.map(({ name, concurrency, rate, held, wanted }) => [
          ...[name, String(concurrency ?? '-'), rate ? `${rate.count} in ${rate.perMs / 1_000} s` : '-'],
          ...[String(held), String(wanted)],
        ]),
      ),
    )
  if (leases.length > 0)
    parts.push(
      '',
      table(
        ['LEASES OF', 'RUNS', 'EXPIRED'],
        leases.map(({ owner, runs: held, expired }) => [owner, String(held), String(expired)]),
      ),
    )
  if (stuck.length > 0)
    parts.push(
      '',
      table(
        ['STUCK RUN', 'TENANT', 'WHY', 'FOR'],
        stuck.map(({ runId, tenant, why, placement, since }) => [
          ...[runId, tenant, placement === undefined ? why : `${why}, for ${placement}`, age(since)],
        ]),
      ),
    )
  return parts.join('\n')
}

function describeLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
}
