/**
 * Wraps a store whose rows hold the secrets of runs only sealed: events are sealed before they are written, and everything that is
 * read is opened. The engine and the server work on real values; projections, large values, backups and dumps have references.
 * Deleting the rows of a run deletes its secrets.
 */
import type { JournalEvent, NewEvent } from '../../domain/event.ts'
import type { DocumentKind, DocumentRow, Documents, NewDocument } from '../../domain/ports/documents.ts'
import type { Once, Records } from '../../domain/ports/records.ts'
import type { ResealedRuns, ResealRuns, Store } from '../../domain/ports/store.ts'
import { hideKnown } from '../../domain/redaction/known-secrets.ts'
import {
  createSealer,
  openData,
  openNamed,
  type Sealing,
  sealData,
  sealEvent,
} from '../../domain/redaction/seal-values.ts'
import type { ValueSeal } from './value-seal.ts'

interface SealedStoreOptions {
  /** Absent: there is no key, and secrets are stored as they are. */
  readonly seal: ValueSeal | undefined
  /** Called the first time that a secret is stored as it is. */
  readonly onClear: () => void
}

export function createSealedStore(store: Store, { seal, onClear }: SealedStoreOptions): Store {
  return seal ? withSeal(store, seal) : withWarning(store, onClear)
}

/**
 * The same rows for pages and streams: secrets stay sealed, so that the redactor removes them wherever a run has repeated
 * them. Only in answers, members that name a secret are opened.
 */
export function createShownStore(store: Store, seal: ValueSeal): Store {
  const openAnswer = <T>(runId: string, output: T): T =>
    openNamed(output, (reference) => seal.open(runId, reference))
  const showEvent = (event: JournalEvent): JournalEvent =>
    event.type === 'complete' && event.payload.output !== undefined
      ? { ...event, payload: { ...event.payload, output: openAnswer(event.runId, event.payload.output) } }
      : event
  const shown: Pick<Store, 'read' | 'output'> = {
    read: async (...given) => (await store.read(...given)).map(showEvent),
    async output(runId) {
      const row = await store.output(runId)
      return row?.output === undefined ? row : { ...row, output: openAnswer(runId, row.output) }
    },
  }
  return withMembers(store, shown)
}

function withSeal(store: Store, seal: ValueSeal): Store {
  const known = createRunSecrets()
  // Sealing is synchronous: most runs have no known secrets, and share one sealer, which seals for the current run.
  let current = ''
  let isNew = false
  const sealing: Sealing = {
    seal: (text) => seal.seal(current, text),
    onSecret: (secret) => {
      isNew = known.add(current, secret) || isNew
    },
  }
  const shared = createSealer(sealing)
  const sealAll = (runId: string, events: readonly NewEvent[]): readonly NewEvent[] => {
    current = runId
    const hide = known.getHider(runId)
    const sealer = hide ? createSealer({ ...sealing, hide }) : shared
    const sealed = events.map((event) => sealEvent(event, sealer))
    return sealed.some((event, index) => event !== events[index]) ? sealed : events
  }
  /** Seals again if the events themselves have a new secret: it may be in a text before it. */
  const sealEvents = (runId: string, events: readonly NewEvent[]): readonly NewEvent[] => {
    isNew = false
    const sealed = sealAll(runId, events)
    return isNew ? sealAll(runId, events) : sealed
  }
  /** Returns the given write if its events have no secret. */
  const sealWrite = <W extends { readonly runId: string; readonly events: readonly NewEvent[] }>(
    write: W,
  ) => {
    const events = sealEvents(write.runId, write.events)
    return events === write.events ? write : { ...write, events }
  }
  const open = <T>(runId: string, value: T): T =>
    openData(
      value,
      (reference) => seal.open(runId, reference),
      (secret) => known.add(runId, secret),
    )
  const openRows = <T extends { readonly runId: string }>(rows: readonly T[]): T[] =>
    rows.map((row) => open(row.runId, row))
  const openRow = <T extends { readonly runId: string }>(row: T | undefined): T | undefined =>
    row && open(row.runId, row)
  const sealed: Pick<Store, 'create' | 'append' | Read> = {
    create: (run) => store.create(sealWrite(run)),
    append: (append) => store.append(sealWrite(append)),
    read: async (...given) => openRows(await store.read(...given)),
    head: async (...given) => openRow(await store.head(...given)),
    runs: async (...given) => openRows(await store.runs(...given)),
    asks: async (...given) => openRows(await store.asks(...given)),
    ask: async (...given) => openRow(await store.ask(...given)),
    nodes: async (...given) => openRows(await store.nodes(...given)),
    snapshots: async (...given) => openRows(await store.snapshots(...given)),
    output: async (...given) => openRow(await store.output(...given)),
    messages: async (...given) => openRows(await store.messages(...given)),
  }
  const records: Records = {
    ...store.records,
    once: sealOnce(store.records.once, seal),
    documents: sealInputs(store.records.documents, seal),
  }
  return withMembers(store, {
    ...sealed,
    records,
    ...(store.replaceReferences && {
      resealRuns: (request: ResealRuns & { readonly by: string }) => resealRuns(store, seal, request),
    }),
  })
}

async function resealRuns(
  store: Store,
  seal: ValueSeal,
  { by, dryRun = false, ...request }: ResealRuns & { readonly by: string },
): Promise<ResealedRuns> {
  let done: ResealedRuns = { runs: 0, underWay: 0, tenants: {} }
  try {
    const whole = await store.replaceReferences?.({
      ...request,
      dryRun,
      beginnings: seal.previousBeginnings(),
      knownKeys: seal.keyIds(),
      replace(runId, reference) {
        const opened = seal.open(runId, reference)
        return opened === undefined ? reference : seal.seal(runId, opened)
      },
      onProgress(now) {
        done = now
        request.onProgress?.(now)
      },
    })
    done = whole ?? done
    return done
  } finally {
    // What was done before a failure is recorded too.
    for (const [tenant, runs] of dryRun ? [] : Object.entries(done.tenants))
      await store.records.operations.append({
        tenant,
        by,
        action: 'secrets.resealed',
        subject: `${runs} runs`,
        details: { runs },
      })
  }
}

type Read = 'read' | 'head' | 'runs' | 'asks' | 'ask' | 'nodes' | 'snapshots' | 'output' | 'messages'

/** Stored responses to requests, and answers of agents that wait to be fetched. */
function sealOnce(once: Once, seal: ValueSeal): Once {
  const close = <T>(name: string, value: T): T =>
    sealData(value, createSealer({ seal: (text) => seal.seal(`once ${name}`, text) }))
  const open = <T>(name: string, value: T): T =>
    openData(value, (reference) => seal.open(`once ${name}`, reference))
  return {
    take: async (name, { body, keepMs }) =>
      open(name, await once.take(name, { body: close(name, body), keepMs })),
    look: async (name) => open(name, await once.look(name)),
    settle: (name, body) => once.settle(name, close(name, body)),
    renew: (name, keepMs) => once.renew(name, keepMs),
    release: (name) => once.release(name),
  }
}

/** Calls that wait for a worker, and runs that wait for their turn; other documents have no inputs of runs. */
const withInputs: ReadonlySet<DocumentKind> = new Set(['call', 'message'])

function sealInputs(documents: Documents, seal: ValueSeal): Documents {
  const close = <T extends NewDocument>(document: T): T =>
    withInputs.has(document.kind)
      ? { ...document, body: sealData(document.body, createSealerFor(document)) }
      : document
  const createSealerFor = ({ kind, id }: NewDocument) =>
    createSealer({ seal: (text) => seal.seal(`${kind} ${id}`, text) })
  const open = (row: DocumentRow): DocumentRow =>
    withInputs.has(row.kind)
      ? { ...row, body: openData(row.body, (reference) => seal.open(`${row.kind} ${row.id}`, reference)) }
      : row
  const openOne = (row: DocumentRow | undefined) => row && open(row)
  return {
    ...documents,
    add: async (document, given) => openOne(await documents.add(close(document), given)),
    replace: async (document, given) => openOne(await documents.replace(close(document), given)),
    find: async (key) => openOne(await documents.find(key)),
    list: async (query) => (await documents.list(query)).map(open),
    claimDue: async (request) => (await documents.claimDue(request)).map(open),
  }
}

/** Looks for secrets in what is written until one is found, and reports it. */
function withWarning(store: Store, onClear: () => void): Store {
  let isReported = false
  const report = (text: string) => {
    if (!isReported) onClear()
    isReported = true
    return text
  }
  const sealer = createSealer({ seal: report })
  const inspect = (events: readonly NewEvent[]) => {
    if (!isReported) for (const event of events) sealEvent(event, sealer)
  }
  const inspected: Pick<Store, 'create' | 'append'> = {
    create(run) {
      inspect(run.events)
      return store.create(run)
    },
    append(append) {
      inspect(append.events)
      return store.append(append)
    },
  }
  return withMembers(store, inspected)
}

/** The store with some members replaced. Its own are read on every call: they may be replaced too. */
function withMembers(store: Store, replaced: Partial<Store>): Store {
  const members = new Map<PropertyKey, unknown>(Object.entries(replaced))
  return new Proxy(store, {
    get: (target, name) => members.get(name) ?? Reflect.get(target, name),
  })
}

// Values that runs have under names of secrets: they are sealed in other texts of the run too, such as an agent's echo.

const [mostRuns, mostSecrets] = [1_000, 100]

interface RunSecrets {
  readonly secrets: Set<string>
  /** Made anew when there are more. */
  hide: ReturnType<typeof hideKnown> | undefined
}

function createRunSecrets() {
  const runs = new Map<string, RunSecrets>()
  let replaceNow = (secret: string) => secret
  return {
    /** Returns whether it was not known. */
    add(runId: string, secret: string): boolean {
      const run = runs.get(runId) ?? { secrets: new Set<string>(), hide: undefined }
      // The oldest runs go first: a read of the journal adds their secrets again.
      runs.delete(runId)
      runs.set(runId, run)
      if (runs.size > mostRuns) for (const oldest of runs.keys()) if (runs.delete(oldest)) break
      if (run.secrets.has(secret) || run.secrets.size >= mostSecrets) return false
      run.secrets.add(secret)
      run.hide = hideKnown([...run.secrets], (found) => replaceNow(found))
      return true
    },
    /** For the secrets known now. Undefined without any. */
    getHider(runId: string): Sealing['hide'] {
      const hide = runs.get(runId)?.hide
      return (
        hide &&
        ((text, replace) => {
          replaceNow = replace
          return hide(text)
        })
      )
    },
  }
}
