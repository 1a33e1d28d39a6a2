/** What the journeys share: an app on a store, capabilities of a few words, and asks answered as a person would. */

import {
  type App,
  type AppOptions,
  type Capability,
  createApp,
  type DefinedCapability,
  defineCapability,
  type JournalEvent,
  type Json,
  type JsonSchema,
} from '../../src/index.ts'
import { marketingFacets } from '../../src/presets/marketing/index.ts'
import type { Decision, LocalFunction } from '../../src/types.ts'
import { afterEachTest } from '../cleanup.ts'
import { loadAsks, verifyHistory } from '../seams/engine.ts'

const apps = new Set<App>()

/** Whatever a journey did, its journals are in order. */
afterEachTest(async () => {
  for (const app of apps) {
    for (const { runId } of await app.store.runs({})) {
      const issues = verifyHistory(await journal(app, runId), {
        head: await app.store.head(runId),
        audit: await app.store.audit(runId),
        asks: await loadAsks(app.store, runId),
      } as Parameters<typeof verifyHistory>[1])
      if (issues.length > 0) throw new Error(issues.map(({ message }) => message).join('\n'))
    }
    await app.close({ graceMs: 0 })
  }
  apps.clear()
})

/** Facets are those of the marketing preset, unless a journey brings its own. */
export async function open(options: AppOptions): Promise<App> {
  const app = await createApp({ pollMs: 50, facets: marketingFacets, ...options })
  apps.add(app)
  return app
}

/** Ends an app before its test does; another may open its store. */
export async function leave(app: App): Promise<void> {
  apps.delete(app)
  await app.close()
}

export const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const

/** A capability that answers with what the function says. */
export function local(
  capabilityId: string,
  run: (inputs: { [name: string]: Json }) => Json | Promise<Json>,
  more: Partial<Capability> & { readonly run?: LocalFunction } = {},
): DefinedCapability {
  return defineCapability({
    capabilityId,
    inputContract: { type: 'object' },
    outputContract: text as JsonSchema,
    idempotent: true,
    run: (inputs) => run(inputs as { [name: string]: Json }),
    ...more,
  })
}

/** A model that says these texts, one an attempt. */
export function says(
  capabilityId: string,
  texts: readonly string[],
  more: Partial<Capability> = {},
): DefinedCapability {
  return defineCapability({
    capabilityId,
    kind: 'scripted',
    inputContract: { type: 'object' },
    outputContract: text,
    settings: { script: texts.map((said) => ({ text: said })) },
    ...more,
  })
}

export const rao = (primary: unknown, confidence: number, escalate = false) =>
  JSON.stringify({
    primary_output: JSON.stringify(primary),
    confidence,
    confidence_type: 'verbalized',
    escalate,
  })

export const envelope = (more: { [name: string]: unknown } = {}) => ({
  objective: 'Write one line about tea',
  inputs: { topic: 'tea' },
  outputContract: { schema: text },
  ...more,
})

export async function journal(app: App, runId: string): Promise<JournalEvent[]> {
  return app.store.read(runId, 0, 10_000)
}

export const listTypes = (events: readonly JournalEvent[]) => events.map(({ type }) => type)

/** Answers the open ask of a run by its hash, as a person who has reviewed it. */
export async function answer(app: App, runId: string, decision: Decision, value?: Json): Promise<void> {
  const [ask] = await app.store.asks({ runId, status: 'pending' })
  if (!ask) throw new Error('Nothing is asked')
  const { requestId, valueHash } = ask
  await app.reply(runId, { requestId, decision, valueHash, by: 'ann', ...(value !== undefined && { value }) })
}
