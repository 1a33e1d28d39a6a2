/**
 * The `data` of a node: free, except for the keys that are settings. A key that is nearly one of them, or a setting that is
 * without effect where it is, would switch a safety setting off in silence: it is refused.
 */
import { closest } from '../base/closest.ts'
import type { Issue } from '../base/issue.ts'
import { own } from '../base/json.ts'
import { child, type Pointer } from '../base/pointer.ts'
import { raoFields } from './rao.ts'

type Data = { readonly [key: string]: unknown }

/** Every key of `data` that means something. */
const settings: readonly string[] = [...raoFields, 'processing', 'knowledge', 'outputFormat']

/** Keys that are misspelled, nested in `rao`, or need `contract` and lack it. */
export function checkNodeData(data: Data | undefined, at: Pointer): Issue[] {
  if (data === undefined) return []
  const absent = settings.filter((name) => own(data, name) === undefined)
  const issues = Object.keys(data)
    .filter((key) => !settings.includes(key))
    .flatMap((key) => checkKey(key, absent, at))
  return issues.length > 0 ? issues : checkOptIn(data, at)
}

/** A setting that is there was not meant by another key. */
function checkKey(key: string, absent: readonly string[], at: Pointer): Issue[] {
  const pointer = child(at, key)
  if (key === 'rao')
    return [
      {
        code: 'draft/data',
        at: { pointer },
        message: 'a node has no `rao` in its data, and this would have no effect',
        hint: 'Move its keys up: data: { contract: true, … }',
      },
    ]
  const meant = closest(key, absent)
  if (meant === undefined) return []
  return [
    {
      code: 'draft/data',
      at: { pointer },
      message: `the property ${JSON.stringify(key)} is not a setting of a node and would have no effect`,
      hint: `Did you mean "${meant}"? If not, use a name that is less like it`,
    },
  ]
}

function checkOptIn(data: Data, at: Pointer): Issue[] {
  if (own(data, 'contract') !== undefined) return []
  const field = raoFields.find((name) => own(data, name) !== undefined)
  if (field === undefined) return []
  return [
    {
      code: 'draft/data',
      at: { pointer: child(at, field) },
      message: `${field} has no effect without contract`,
      hint: 'Add contract: true, or contract: false to keep the key and leave the contract off',
    },
  ]
}
