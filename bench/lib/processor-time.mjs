/** Processor time of other processes, read from /proc. */
import { readdirSync, readFileSync } from 'node:fs'

/** Fields of proc(5); a tick is 10 ms. */
function readProcess(pid) {
  try {
    const [head, tail] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    const fields = tail.split(' ')
    const tickMs = 10
    const [own, ended] = [11, 13].map((at) => (Number(fields[at]) + Number(fields[at + 1])) * tickMs)
    const name = head.slice(head.indexOf('(') + 1)
    return { pid: Number(pid), name, parent: Number(fields[1]), ownMs: own, endedMs: ended }
  } catch {
    // It has ended meanwhile, or this is not Linux.
    return undefined
  }
}

function listProcesses() {
  try {
    const names = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))
    return names.map(readProcess).filter((each) => each !== undefined)
  } catch {
    return []
  }
}

/** The parent of a process, as PostgreSQL has one for all connections. */
export function familyOf(pid) {
  return readProcess(pid)?.parent
}

/** Milliseconds of the children of a process, and of its ended children; not a number where there is no /proc. */
export function familyMs(parent) {
  const ended = parent === undefined ? undefined : readProcess(parent)
  if (ended === undefined) return Number.NaN
  const children = listProcesses().filter((each) => each.parent === parent)
  return ended.endedMs + children.reduce((sum, { ownMs }) => sum + ownMs, 0)
}

/** Milliseconds of the process with this name among the grandchildren of this one, such as the server that a shell started. */
export function grandchildMs(name) {
  const all = listProcesses()
  const shells = new Set(all.filter(({ parent }) => parent === process.pid).map(({ pid }) => pid))
  const found = all.find((each) => shells.has(each.parent) && each.name === name)
  return found === undefined ? Number.NaN : found.ownMs
}
