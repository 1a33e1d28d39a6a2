/** Parses the worker of a step: `agent: NAME` or `uses: agents.NAME | imports.NAME | BUILT-IN | CAPABILITY`. */
import type { Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import { isBuiltinName } from './builtins.ts'
import type { Worker } from './pipeline.ts'
import { didYouMean, type Reading } from './reading.ts'

interface Pointers {
  readonly agent: Pointer
  readonly uses?: Pointer
  readonly none?: Pointer
}

export function parseWorker(
  reading: Reading,
  said: { readonly [key: string]: Json },
  at: Pointers,
): Worker | undefined {
  const { agent, uses } = said
  if ((agent === undefined) === (uses === undefined)) {
    const message =
      agent === undefined ? 'the step has neither agent nor uses' : 'agent and uses are both given'
    const hint = 'Say agent: NAME, or uses: agents.NAME, imports.NAME, a built-in, or the id of a capability'
    reading.issues.push(reading.complain(at.none ?? at.agent, { code: 'pipeline/worker', message, hint }))
    return undefined
  }
  const name = String(agent ?? uses)
  if (agent !== undefined)
    return known(reading, { kind: 'agent', name: name.replace(/^agents\./, '') }, at.agent)
  const where = at.uses ?? at.agent
  if (name.startsWith('agents.')) return known(reading, { kind: 'agent', name: name.slice(7) }, where)
  if (name.startsWith('imports.')) return known(reading, { kind: 'import', name: name.slice(8) }, where)
  // Names of the original project end in `builtins.NAME`.
  const last = name.replace(/^([\w.]*\.)?builtins\./, '')
  return isBuiltinName(last) ? { kind: 'builtin', name: last } : { kind: 'capability', name }
}

function known(reading: Reading, worker: Worker, at: Pointer): Worker | undefined {
  const names = [...(worker.kind === 'agent' ? reading.agents : reading.imports).keys()]
  if (names.includes(worker.name)) return worker
  const message = `${worker.kind} "${worker.name}" not found`
  const hint = didYouMean(
    worker.name,
    names,
    names.length > 0 ? `There are ${names.join(', ')}` : `Add it under ${worker.kind}s:`,
  )
  reading.issues.push(reading.complain(at, { code: 'pipeline/unknown', message, hint }))
  return undefined
}
