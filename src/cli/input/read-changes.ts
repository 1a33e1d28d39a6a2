/** Reads the changes of a replay from files: runtime policies and node data. */
import type { Issue } from '../../base/errors/issue.ts'
import { isObject } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import { parsePolicies } from '../../domain/policy/parse-policies.ts'
import { conditionIssues } from '../../engine/decide/checks/conditions.ts'
import type { ReplayChanges } from '../../engine/replay/replay.ts'
import type { Unreadable } from '../read-input.ts'
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

/** Relocates an issue from the policies built from the file to the list in the file. */
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
  // Every member was checked to be an object above, and all came from JSON.
  return { nodeData: value as NonNullable<ReplayChanges['nodeData']> }
}
