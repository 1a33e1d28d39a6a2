/** Runs `proviso worker`: executes the runs of a store and starts those of schedules, without an HTTP server. */
import { ProvisoError } from '../../base/errors/error.ts'
import { systemClock } from '../../base/time/clock.ts'
import { createTenantQuota } from '../../server/index.ts'
import { exitCode } from '../exit-codes.ts'
import type { Work } from '../input/read-work.ts'
import { printJson, printNote, printText } from '../print.ts'
import { type AppFlags, type OpenedApp, withApp } from './open-app.ts'
import { exitOnUnexpectedError, leaveAfter, waitForStopSignal } from './serve.ts'
import { serverLimits } from './serve-settings.ts'

export interface WorkerFlags extends AppFlags {
  /** Attempts at once. */
  readonly concurrency?: number
  readonly capabilityConcurrency?: number
  readonly capabilities?: readonly string[]
  readonly poll: number
  readonly lease?: number
  /** How long attempts may take to end after the stop signal. */
  readonly drain: number
  /** Pause between two health lines. */
  readonly healthEvery: number
  readonly json?: true
}

/** What the shutdown may take besides the attempts: with the default of --drain, it stays below ten seconds. */
const closingMs = 5_500

export async function work(flags: WorkerFlags): Promise<number> {
  return withApp(flags, { role: 'worker', choose: (given) => chooseOptions(flags, given) }, (opened) =>
    execute(flags, opened),
  )
}

function chooseOptions(flags: WorkerFlags, { capabilities }: Work) {
  const { concurrency, capabilityConcurrency, lease, poll } = flags
  return {
    claim: 'all',
    pollMs: poll,
    ...(lease !== undefined && { leaseMs: lease }),
    limits: {
      ...(concurrency !== undefined && { process: concurrency }),
      ...(capabilityConcurrency !== undefined && { capability: () => capabilityConcurrency }),
    },
    plannedOnly: findPlannedOnly(flags.capabilities, capabilities),
  } as const
}

/** Returns the capabilities of the modules that are not named: this worker plans with them, and others execute them. */
function findPlannedOnly(ids: readonly string[] | undefined, all: Work['capabilities']): readonly string[] {
  if (ids === undefined) return []
  const known = all.map((each) => each.capability.capabilityId)
  const unknown = ids.find((id) => !known.includes(id))
  if (unknown !== undefined)
    throw new ProvisoError('option/invalid', `Capability "${unknown}" is in no module of --use`, {
      hint: known.length === 0 ? 'Pass its module with --use' : `Choose from ${known.join(', ')}`,
    })
  return known.filter((id) => !ids.includes(id))
}

async function execute(
  { drain, healthEvery, json }: WorkerFlags,
  { app, owner, notes, config, choice }: OpenedApp,
): Promise<number> {
  if (choice.forgets)
    throw new ProvisoError(
      'option/invalid',
      'Cannot execute the runs of memory: no other process can start runs in it',
      {
        hint: 'Pass --store postgres://…, or set PROVISO_STORE',
      },
    )
  const begun = Date.now()
  let [completed, failed, lost] = [0, 0, 0]
  const end = app.subscribeToLifecycle(
    (notice) => {
      if (notice.kind === 'left') lost += notice.why === 'lost' ? 1 : 0
      else
        for (const event of notice.events)
          if (event.type === 'complete') {
            if (event.payload.status === 'completed') completed++
            else failed++
          }
    },
    { types: ['complete'] },
  )
  const limits = serverLimits(config.serve, { dev: false, isSet: () => true })
  const quota = createTenantQuota(app.store, limits, systemClock)
  const admit = async (tenant: string) => (await quota.take(tenant))?.detail
  app.schedules.limit(admit)
  app.threads.limit(admit)
  const report = (status: string) => {
    const health = {
      status,
      worker: owner,
      active: app.active,
      ...{ completed, failed, lost },
      upSeconds: Math.round((Date.now() - begun) / 1_000),
    }
    if (json) return printJson(health, 'line')
    printText(
      `${owner} ${status}: ${app.active} runs active; ${completed} completed, ${failed} not completed, ${lost} lost to others`,
    )
  }
  report('ready')
  for (const line of notes) printNote(line)
  const timer = setInterval(() => report('alive'), healthEvery)
  exitOnUnexpectedError()
  const signal = await waitForStopSignal()
  printNote(`${signal}: stopping. A second signal exits at once.`)
  leaveAfter(drain + closingMs)
  clearInterval(timer)
  await app.close({ graceMs: drain })
  end()
  report('stopped')
  return exitCode('ok')
}
