/**
 * Runs one of the example agents in a process of its own, and kills it with SIGKILL once, at `killAt`: right after a
 * tool has acted, before anything could record it, or while a person is asked.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { register } from 'node:module'

// The examples are outside of this folder, which has the packages of the peers.
register(
  `data:text/javascript,${encodeURIComponent(`
    export async function resolve(name, context, next) {
      try { return await next(name, context) }
      catch (error) { return next(name, { ...context, parentURL: ${JSON.stringify(import.meta.url)} }).catch(() => { throw error }) }
    }`)}`,
)

const { library, baseURL, folder, killAt } = JSON.parse(process.argv[2])
const world = `${folder}/world.log`

/** Something happens in the world; the process may die of it, once. */
function happen(what) {
  appendFileSync(world, `${what}\n`)
  if (what !== killAt || existsSync(`${folder}/killed`)) return
  writeFileSync(`${folder}/killed`, '')
  process.kill(process.pid, 'SIGKILL')
}

const wasSent = () => readFileSync(world, 'utf8').split('\n').includes('send')

const { research } = await import(`../../examples/research-agent/${library}.mjs`)
const report = await research({
  baseURL,
  folder,
  search({ query }) {
    happen('search')
    return { hits: [`${query} grows in hills`] }
  },
  send() {
    happen('send')
    return { sent: true }
  },
  async decide(ask) {
    const isDoubt = ask.decisions?.includes('answer') ?? false
    happen(isDoubt ? 'doubt' : 'ask')
    if (typeof ask.approve !== 'function') return true
    // A person who is asked whether the message was sent looks it up.
    if (isDoubt && wasSent()) return ask.answer({ by: 'ann', value: { sent: true } })
    return ask.approve({ by: 'ann' })
  },
})
process.stdout.write(JSON.stringify(report))
