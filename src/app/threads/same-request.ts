/** A run id names one request: with the same one it is the same run, with another one an error that names the difference. */
import { ProvisoError } from '../../base/errors/error.ts'
import { jsonEqual } from '../../base/json.ts'

type Request = object

/** The first member of a request that differs from the recorded one; members that it leaves out do not count. */
export function findDifference(request: Request, recorded: Request): string | undefined {
  const before = recorded as { readonly [name: string]: unknown }
  return Object.entries(request).find(([name, value]) => !isSame(value, before[name]))?.[0]
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other
  return jsonEqual(one, other)
}

export function otherRequestError(runId: string, difference: string): ProvisoError {
  return new ProvisoError(
    'run/exists',
    `Cannot start run "${runId}": it exists with another \`${difference}\``,
    { hint: 'Choose another run id, or pass the same request to get the same run' },
  )
}
