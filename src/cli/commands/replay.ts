/** `proviso replay`: replays a recorded run offline, without calls, under the same or changed policies and node data. */
import type { Command } from 'commander'
import { createApp } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import { parsePolicies } from '../../domain/policy/parse-policies.ts'
import { conditionIssues } from '../../engine/decide/checks/conditions.ts'
import type { Difference, ReplayChanges, Replayed } from '../../engine/replay/replay.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { readJson, unusable } from '../input/read-json.ts'
import { addFileOption, addUseOption, readWork } from '../input/read-work.ts'
import { count } from '../one-line.ts'
import { addStoreOption, chooseExistingStore, readStore } from '../options/store-option.ts'
import { printJson, printNote, printText, redactor, refuse } from '../print.ts'
import type { Unreadable } from '../read-input.ts'
import { table } from '../render/table.ts'

interface Flags {
  readonly policies?: string
  readonly nodeData?: string
  readonly file?: string
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  readonly store?: string
  readonly json?: true
}

const notes = `
Without --policies and --node-data, a replay must make the recorded decisions. With them, it prints the decisions that differ.
Load the capabilities with --file and --use: their kind and their side effects influence the decisions.

${describeExitCodes(['ok', 'usage', 'unmet'])}`

export function addReplayCommand(program: Command): void {
  const command = program
    .command('replay')
    .summary('replay a run offline')
    .description('replay a recorded run offline, without any call, and print the differences')
    .argument('<run>', 'run id')
    .option('--policies <file>', 'replace the runtime policies: a JSON list, or an object with "runtime"')
    .option('--node-data <file>', 'override data of nodes: a JSON object of objects, by node id')
  addStoreOption(addUseOption(addFileOption(command)))
    .option('--json', 'print events, decisions and differences as one JSON object')
    .addHelpText('after', notes)
    .action(async (runId: string, flags: Flags) => {
      process.exitCode = await replay(runId, flags)
    })
}

async function replay(runId: string, flags: Flags): Promise<number> {
  const policies = flags.policies === undefined ? {} : await readRuntimePolicies(flags.policies)
  if ('unreadable' in policies) return refuse(policies.unreadable)
  const nodeData = flags.nodeData === undefined ? {} : await readNodeData(flags.nodeData)
  if ('unreadable' in nodeData) return refuse(nodeData.unreadable)
  const work = await readWork(flags)
  if ('unreadable' in work) return refuse(work.unreadable)
  const { capabilities, facets } = work
  const replayed = await readStore(chooseExistingStore(flags.store), async (store) => {
    const app = await createApp({ store, capabilities, facets, claim: 'own' })
    try {
      const changes: ReplayChanges = { ...policies, ...nodeData }
      refuseUnknownNodes(changes, await app.state(runId))
      return await app.replay(runId, changes)
    } finally {
      await app.close()
    }
  })
  print(replayed, flags)
  return exitCode(replayed.differences.length === 0 ? 'ok' : 'unmet')
}

function refuseUnknownNodes(changes: ReplayChanges, state: { nodes: ReadonlyMap<string, unknown> }): void {
  const unknown = Object.keys(changes.nodeData ?? {}).find((id) => !state.nodes.has(id))
  if (unknown === undefined) return
  throw new ProvisoError('option/invalid', `--node-data names "${unknown}", which the plan does not have`, {
    hint: `Its nodes are ${[...state.nodes.keys()].slice(0, 20).join(', ')}`,
  })
}

function print(replayed: Replayed, { json }: Flags): void {
  const { events, decisions, differences } = replayed
  if (json) {
    printJson(redactor.value(replayed), 'line')
    return
  }
  printNote(
    [count(events, 'event'), count(decisions, 'decision'), count(differences.length, 'difference')].join(
      ', ',
    ),
  )
  if (differences.length > 0) printText(table(['AFTER', 'RECORDED', 'INSTEAD'], differences.flatMap(rows)))
}

/** Renders both sides line by line; only the first line names the location. */
function rows({ after, recorded, instead }: Difference): string[][] {
  const lines = Math.max(recorded.length, instead.length, 1)
  return Array.from({ length: lines }, (_, line) => {
    const absent = line === 0 ? '(nothing)' : ''
    return [line === 0 ? String(after) : '', recorded[line] ?? absent, instead[line] ?? absent]
  })
}

// Reads the changes of a replay from files: runtime policies and node data.

type Read<K extends keyof ReplayChanges> = Pick<ReplayChanges, K> | { readonly unreadable: Unreadable }

async function readRuntimePolicies(file: string): Promise<Read<'policies'>> {
  const read = await readJson(file, 'the file of policies')
  if ('unreadable' in read) return read
  const list = Array.isArray(read.value)
  const parsed = parsePolicies(list ? { runtime: read.value } : read.value, {
    checkCondition: conditionIssues,
  })
  if (parsed.ok) return { policies: parsed.value.policies.runtime }
  return { unreadable: unusable(read, list ? parsed.issues.map(asInList) : parsed.issues) }
}

/** Relocates an issue from the policies built from the file to the list in the file. */
function asInList(issue: Issue): Issue {
  return 'pointer' in issue.at
    ? { ...issue, at: { pointer: issue.at.pointer.replace(/^\/runtime/, '') } }
    : issue
}

async function readNodeData(file: string): Promise<Read<'nodeData'>> {
  const read = await readJson(file, 'the file of node data')
  if ('unreadable' in read) return read
  const { value } = read
  const hint = 'Write {"node id": {"autoApproveAbove": 0.9}}'
  const issue = (pointer: string, message: string) => ({
    code: 'node-data/shape',
    at: { pointer },
    message,
    hint,
  })
  if (!isObject(value)) return { unreadable: unusable(read, [issue('', 'must be an object by node id')]) }
  const wrong = Object.entries(value).filter(([, data]) => !isObject(data))
  if (wrong.length > 0)
    return {
      unreadable: unusable(
        read,
        wrong.map(([id]) => issue(child('', id), 'must be an object')),
      ),
    }
  // Every member was checked to be an object above, and all came from JSON.
  return { nodeData: value as NonNullable<ReplayChanges['nodeData']> }
}
