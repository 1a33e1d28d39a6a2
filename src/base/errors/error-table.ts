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
    hint: 'Retry later, or raise `workers` or `waiting`',
  },
  'pool/closed': { fate: 'fix', exitCode: 1, hint: 'Create a new reader' },
  'pool/broken': {
    fate: 'internal',
    exitCode: 1,
    hint: 'Create a new reader; if it breaks again, report the text that breaks it',
  },
  'envelope/invalid': { fate: 'fix', exitCode: 2, hint: 'Correct each entry of `issues`' },
  'draft/invalid': { fate: 'fix', exitCode: 2, hint: 'Correct each entry of `issues`' },
  'run/missing': {
    fate: 'fix',
    exitCode: 2,
    hint: 'List the runs of the store with `proviso runs`, or open the store that has the run',
  },
  'memory/missing': { fate: 'fix', exitCode: 2, hint: 'List memories with `proviso memory list`' },
  'thread/missing': { fate: 'fix', exitCode: 2, hint: 'List threads with `proviso thread list`' },
  'thread/busy': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Wait for the run, or set whenBusy to queue or interrupt',
  },
  'schedule/invalid': { fate: 'fix', exitCode: 2, hint: 'Set `cron` and `timeZone`, or `at`' },
  'schedule/unknown': { fate: 'fix', exitCode: 2, hint: 'List schedules with `proviso schedule list`' },
  'schedule/taken': { fate: 'fix', exitCode: 2, hint: 'Choose another scheduleId, or change the schedule' },
  'schedule/limit': { fate: 'fix', exitCode: 2, hint: 'Delete schedules that are not used' },
  'schedule/secret': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Keep secrets out of the envelope: configure them where the capability runs',
  },
  'run/exists': { fate: 'fix', exitCode: 2, hint: 'Choose another run id' },
  'run/failed': { fate: 'fix', exitCode: 2, hint: 'Check `issues`: each says why there is no answer' },
  'run/cancelled': { fate: 'fix', exitCode: 2, hint: 'Start a new run' },
  'run/waiting': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Answer the open asks with `run.asks()`, or resume the run with `app.resume`',
  },
  'run/state': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Read the status of the run, and call the operation that this status allows',
  },
  'run/busy': {
    fate: 'retry',
    exitCode: 1,
    hint: 'Retry: other processes write to the run at the same time',
  },
  'run/crashed': {
    fate: 'internal',
    exitCode: 1,
    hint: 'Check the cause and report it; the run is kept, and another process on the store continues it when the lease of this process has expired',
  },
  'queue/unavailable': {
    fate: 'retry',
    exitCode: 2,
    hint: 'Check that the Restate server runs and is reachable; runs are stored, and are sent when it is back',
  },
  'plan/stale-version': { fate: 'fix', exitCode: 2, hint: 'Read the run again: it has a newer plan' },
  'capability/missing': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Register the capabilities with this app, or start a process that has them on the same store',
  },
  'policy/unknown': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Name a runtime policy of the envelope with a manual trigger',
  },
  'ask/unknown': { fate: 'fix', exitCode: 2, hint: 'List the open asks of the run' },
  'ask/resolved': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Do not retry: the first decision on an ask counts',
  },
  'ask/expired': { fate: 'fix', exitCode: 2, hint: 'Do not retry: an expired ask counts as rejected' },
  'ask/stale': { fate: 'fix', exitCode: 2, hint: 'Read the ask again and reply with its valueHash' },
  'task/claimed': { fate: 'fix', exitCode: 2, hint: 'Wait until the holder releases or completes the task' },
  'task/forbidden': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Take another task: GET /api/v1/flex/tasks?filter=mine',
  },
  'ask/invalid': { fate: 'fix', exitCode: 2, hint: 'Correct each entry of `issues`' },
  'capability/refused': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Change the input: the capability refuses the same input again',
  },
  'capability/unclear': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Answer the question: the next attempt receives the answer',
  },
  'capability/invalid': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Correct each entry of `issues`',
  },
  'capability/taken': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Choose another `capabilityId`, or deregister the other agent',
  },
  'capability/limit': {
    fate: 'retry',
    exitCode: 1,
    hint: 'Deregister unused agents',
  },
  'capability/unregistered': { fate: 'fix', exitCode: 2, hint: 'Register the capability first' },
  'capability/forbidden': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Use the token that registered the capability, or one created for it',
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
    fate: 'fix',
    exitCode: 1,
    hint: 'Name another model (`planner.model`), or set `planner.mode` to auto or search',
  },
  'capability/secret-key': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Set PROVISO_SECRET_KEY (`openssl rand -hex 32`) on the server, the same in every process',
  },
  'callback/unknown': { fate: 'fix', exitCode: 2, hint: 'Post to the callbackUrl of the call' },
  'callback/forged': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Sign timestamp.nonce.runId.nodeId.attempt.body with the key of the registration',
  },
  'callback/replayed': { fate: 'fix', exitCode: 2, hint: 'Use a new nonce for every post' },
  'callback/settled': { fate: 'fix', exitCode: 2, hint: 'Do not retry: the attempt has ended' },
  'agents/off': { fate: 'fix', exitCode: 2, hint: 'Pass `http` to createApp' },
  'facet/invalid': { fate: 'fix', exitCode: 2, hint: 'Correct each entry of `issues`' },
  'facet/taken': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Choose another name: a facet does not change once it is defined',
  },
  'facet/unknown': { fate: 'fix', exitCode: 2, hint: 'List facets with GET /api/v1/flex/facets' },
  'facet/in-use': { fate: 'fix', exitCode: 2, hint: 'Deregister these agents and delete these facets first' },
  'facet/limit': { fate: 'fix', exitCode: 2, hint: 'Delete facets that are not used' },
  'webhook/off': { fate: 'fix', exitCode: 2, hint: 'Pass `http` or `webhooks` to createApp' },
  'webhook/invalid': { fate: 'fix', exitCode: 2, hint: 'Correct each entry of `issues`' },
  'webhook/unknown': { fate: 'fix', exitCode: 2, hint: 'List webhooks with GET /api/v1/flex/webhooks' },
  'webhook/limit': { fate: 'fix', exitCode: 2, hint: 'Delete webhooks that are not used' },
  'mcp/unavailable': {
    fate: 'retry',
    exitCode: 1,
    hint: 'Check the server with `proviso mcp list`, then retry',
  },
  'engine/closed': { fate: 'retry', exitCode: 1, hint: 'Start a new engine on the same store' },
  'store/locked': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Stop the other process, talk to it through its server, or open the store with readOnly',
  },
  'store/newer': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Install the newer version of proviso that wrote this store, or open another store',
  },
  'store/unavailable': {
    fate: 'retry',
    exitCode: 2,
    hint: 'Check that the store can be reached, then retry: acknowledged writes are not lost',
  },
  'store/replaced': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Put the original files back, or stop the process, restore a backup with `proviso restore`, and start again',
  },
  'store/lost': {
    fate: 'fix',
    exitCode: 2,
    hint: 'List the losses with `proviso verify`; put the original files back, restore a backup with `proviso restore`, or accept the loss with `proviso doctor --accept-loss`',
  },
  'store/corrupt': {
    fate: 'fix',
    exitCode: 2,
    hint: 'Stop the server, check the store with `proviso doctor`, and restore a backup with `proviso restore`',
  },
  'store/closed': { fate: 'fix', exitCode: 1, hint: 'Open the store again' },
  'stream/full': {
    fate: 'retry',
    exitCode: 1,
    hint: 'Close unused streams, retry later, or read the events page by page',
  },
  aborted: { fate: 'stopped', exitCode: 130, hint: 'Start again: the caller cancelled the operation' },
} as const satisfies Record<string, ErrorRow>
