/**
 * Maps each error code to its category, exit code and default hint. The light reader has the rows of the reader only
 * (`errors/light/error-table.ts`).
 */
import { type ErrorRow, readerErrors } from './reader-errors.ts'

export const errorTable = {
  ...readerErrors,
  'pool/full': {
    fate: 'retry',
    exitCode: 1,
    hint: 'Try again later, or allow more workers or a longer queue',
  },
  'pool/closed': { fate: 'mend', exitCode: 1, hint: 'Create a new reader' },
  'pool/broken': {
    fate: 'internal',
    exitCode: 1,
    hint: 'Create a new reader; if it breaks again, report the text that breaks it',
  },
  'envelope/invalid': { fate: 'mend', exitCode: 2, hint: 'Look at the issues: each says where and why' },
  'draft/invalid': { fate: 'mend', exitCode: 2, hint: 'Look at the issues: each says where and why' },
  'run/missing': { fate: 'mend', exitCode: 2, hint: 'Check the run id and the store' },
  'run/exists': { fate: 'mend', exitCode: 2, hint: 'Choose another run id' },
  'run/state': { fate: 'mend', exitCode: 2, hint: 'Look at how the run stands, and do what it waits for' },
  'run/busy': { fate: 'retry', exitCode: 1, hint: 'Others write to the run all the time; try again' },
  'run/crashed': {
    fate: 'internal',
    exitCode: 1,
    hint: 'Check the cause and report it; the run is kept, and another process on the store continues it when the lease of this process has expired',
  },
  'plan/stale-version': { fate: 'mend', exitCode: 2, hint: 'Read the run again: it has a newer plan' },
  'capability/missing': {
    fate: 'mend',
    exitCode: 2,
    hint: 'Bring them, or leave the run to a process that has them',
  },
  'policy/unknown': {
    fate: 'mend',
    exitCode: 2,
    hint: 'Name a runtime policy of the envelope with a manual trigger',
  },
  'ask/unknown': { fate: 'mend', exitCode: 2, hint: 'List the open asks of the run' },
  'ask/resolved': {
    fate: 'mend',
    exitCode: 2,
    hint: 'Nothing is left to do: one decision counts, and it was taken',
  },
  'ask/expired': { fate: 'mend', exitCode: 2, hint: 'The ask counts as rejected' },
  'ask/stale': { fate: 'mend', exitCode: 2, hint: 'Read the ask again and reply with its valueHash' },
  'ask/invalid': { fate: 'mend', exitCode: 2, hint: 'Look at the issues: each says where and why' },
  'capability/refused': {
    fate: 'mend',
    exitCode: 2,
    hint: 'Change what it is given: the same would be refused again',
  },
  'capability/unclear': {
    fate: 'mend',
    exitCode: 2,
    hint: 'Answer the question: the answer is part of the next attempt',
  },
  'capability/invalid': { fate: 'mend', exitCode: 2, hint: 'Look at the issues: each says where and why' },
  'capability/taken': {
    fate: 'mend',
    exitCode: 2,
    hint: 'Choose another capabilityId, or wait until the other agent is gone',
  },
  'capability/limit': {
    fate: 'retry',
    exitCode: 1,
    hint: 'Deregister agents that are not needed any more',
  },
  'capability/unregistered': { fate: 'mend', exitCode: 2, hint: 'Register it first' },
  'capability/forbidden': {
    fate: 'mend',
    exitCode: 2,
    hint: 'Use the token that registered it, or one that was made for it',
  },
  'planner/throttled': {
    fate: 'retry',
    exitCode: 1,
    hint: 'Start the run again later, or set `planner.mode` to auto or search',
  },
  'planner/unavailable': {
    fate: 'retry',
    exitCode: 1,
    hint: 'Start the run again later, or set `planner.mode` to auto or search',
  },
  'planner/refused': {
    fate: 'mend',
    exitCode: 1,
    hint: 'Name another model (`planner.model`), or set `planner.mode` to auto or search',
  },
  'capability/secret-key': {
    fate: 'mend',
    exitCode: 2,
    hint: 'Set PROVISO_SECRET_KEY (`openssl rand -hex 32`) on the server, the same in every process',
  },
  'callback/unknown': { fate: 'mend', exitCode: 2, hint: 'Post to the callbackUrl of the call' },
  'callback/forged': {
    fate: 'mend',
    exitCode: 2,
    hint: 'Sign timestamp.nonce.runId.nodeId.attempt.body with the key of the registration',
  },
  'callback/replayed': { fate: 'mend', exitCode: 2, hint: 'Use a new nonce for every post' },
  'callback/settled': { fate: 'mend', exitCode: 2, hint: 'Nothing is left to do: the attempt is over' },
  'agents/off': { fate: 'mend', exitCode: 2, hint: 'Give createApp `http`' },
  'engine/closed': { fate: 'retry', exitCode: 1, hint: 'Start a new engine on the same store' },
  'store/locked': {
    fate: 'mend',
    exitCode: 2,
    hint: 'Stop the other process, talk to it through its server, or open the store with readOnly',
  },
  'store/newer': {
    fate: 'mend',
    exitCode: 2,
    hint: 'A newer version of proviso has written here: install that version, or use another store',
  },
  'store/unavailable': {
    fate: 'retry',
    exitCode: 2,
    hint: 'Look at the cause; nothing acknowledged is lost',
  },
  'store/corrupt': { fate: 'internal', exitCode: 1, hint: 'Restore the store from a backup' },
  'store/closed': { fate: 'mend', exitCode: 1, hint: 'Open the store again' },
  'stream/full': {
    fate: 'retry',
    exitCode: 1,
    hint: 'Close unused streams, try again later, or read the events page by page',
  },
  aborted: { fate: 'stopped', exitCode: 130, hint: 'It was asked to stop; begin again' },
} as const satisfies Record<string, ErrorRow>
