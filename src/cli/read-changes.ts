/** What a replay is to change, from files: runtime policies, and data of nodes. */
import type { Issue } from '../base/issue.ts'
import { isObject } from '../base/json.ts'
import { child } from '../base/pointer.ts'
import { parsePolicies } from '../domain/parse-policies.ts'
import { conditionIssues } from '../engine/conditions.ts'
import type { ReplayChanges } from '../engine/replay.ts'
import type { Unreadable } from './read-input.ts'
import { readJson, unusable } from './read-json.ts'

type Read<K extends keyof ReplayChanges> = Pick<ReplayChanges, K> | { readonly unreadable: Unreadable }

export async function readRuntimePolicies(file: string): Promise<Read<'policies'>> {
  const read = await readJson(file, 'the file of policies')
  if ('unreadable' in read) return read
  const list = Array.isArray(read.value)
  const parsed = parsePolicies(list ? { runtime: read.value } : read.value, {
    checkCondition: conditionIssues,
  })
  if (parsed.ok) return { policies: parsed.value.policies.runtime }
  return { unreadable: unusable(read, list ? parsed.issues.map(asInList) : parsed.issues) }
}

/** Located in the list that the file holds, not in the policies that were made from it. */
function asInList(issue: Issue): Issue {
  return 'pointer' in issue.at
    ? { ...issue, at: { pointer: issue.at.pointer.replace(/^\/runtime/, '') } }
    : issue
}

export async function readNodeData(file: string): Promise<Read<'nodeData'>> {
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
  // Every member has just been seen to be an object, and it came from JSON.
  return { nodeData: value as NonNullable<ReplayChanges['nodeData']> }
}
