/**
 * Whether a person is asked about a side effect does not depend on how many items of a map run at once. Random drafts are
 * played with several concurrencies, and the asks are worked out from the draft alone: by what was read before the map, and
 * before the call in its own item.
 */
import { expect, it } from 'vitest'
import { open } from '../journeys/support.ts'
import { Random } from '../random.ts'
import { envelope, working } from './support.ts'

const items = [0, 1, 2, 3]
const drafts = process.env['PROVISO_LONG'] === '1' ? 400 : 25

/** One call: `read` brings untrusted content, `act` has a side effect. It fails for one item, or for none. */
interface Call {
  readonly is: 'plain' | 'read' | 'act'
  readonly failsFor?: number
}

/** Done one after the other; a list is a map with these steps for each of its items. */
type Step = Call | readonly Step[]

function drawSteps(random: Random, depth: number): Step[] {
  return Array.from({ length: random.int(1, 4) }, (): Step => {
    if (depth === 1 && random.chance(0.25)) return drawSteps(random, 2)
    const failsFor = depth > 0 && random.chance(0.15) ? random.pick(items) : undefined
    return { is: random.pick(['plain', 'read', 'act', 'act']), ...(failsFor !== undefined && { failsFor }) }
  })
}

const isMap = (step: Step): step is readonly Step[] => Array.isArray(step)

function toNodes(steps: readonly Step[], concurrency: number, isInMap: boolean) {
  const nodes = steps.map((step, nth): object => {
    const id = `n${nth}`
    if (!isMap(step)) {
      const capabilityId = step.failsFor === undefined ? step.is : `${step.is}-${step.failsFor}`
      return { id, capabilityId, inputs: { value: isInMap ? { input: '/item' } : { value: 0 } } }
    }
    const body = { ...toNodes(step, concurrency, true), output: { value: 0 } }
    return { id, inputs: { items: { value: items } }, map: { concurrency, onItemFail: 'skip' }, body }
  })
  const edges = nodes.slice(1).map((_, nth) => ({ from: `n${nth}`, to: `n${nth + 1}` }))
  return { nodes, edges }
}

interface Chain {
  readonly asks: readonly string[]
  /** Something untrusted was read by its end. */
  readonly hasRead: boolean
}

/** The asks of a chain of steps; what fails ends it. */
function expectAsks(
  steps: readonly Step[],
  within: string,
  given: { hasRead: boolean; item?: number },
): Chain {
  const asks: string[] = []
  let { hasRead } = given
  for (const [nth, step] of steps.entries()) {
    const id = `${within}n${nth}`
    if (isMap(step)) {
      const before = { hasRead }
      const each = items.map((item) => expectAsks(step, `${id}[${item}].`, { ...before, item }))
      asks.push(...each.flatMap((chain) => chain.asks))
      hasRead ||= each.some((chain) => chain.hasRead)
      continue
    }
    if (step.is === 'act' && hasRead) asks.push(id)
    if (step.failsFor !== undefined && step.failsFor === given.item) break
    if (step.is === 'read') hasRead = true
  }
  return { asks, hasRead }
}

/** The calls in all variants, in a pace of their own. */
function capabilities(random: Random) {
  const variants = [undefined, ...items].flatMap((failsFor) =>
    (['plain', 'read', 'act'] as const).map((is) => ({ is, failsFor })),
  )
  return variants.map(({ is, failsFor }) =>
    working(
      failsFor === undefined ? is : `${is}-${failsFor}`,
      async (item: number) => {
        await new Promise((next) => setTimeout(next, random.int(0, 2)))
        if (item === failsFor) throw new Error('It fails for this item')
        return item
      },
      { ...(is === 'read' && { kind: 'fetch', run: undefined }), ...(is === 'act' && { sideEffect: true }) },
    ),
  )
}

it('asks about the same side effects, however many items run at once', { timeout: 600_000 }, async () => {
  let asked = 0
  let unasked = 0
  for (let seed = 1; seed <= drafts; seed++) {
    const random = new Random(seed)
    const steps = [...drawSteps(random, 0).slice(0, 2), drawSteps(random, 1), ...drawSteps(random, 0)]
    const { asks: expected } = expectAsks(steps, '', { hasRead: false })
    for (const concurrency of [1, 2, 8]) {
      const pace = new Random(seed)
      const app = await open({
        capabilities: capabilities(pace),
        dispatchers: [
          {
            kind: 'fetch',
            remote: false,
            dispatch: async ({ capability: { capabilityId }, bundle }) => {
              await new Promise((next) => setTimeout(next, pace.int(0, 3)))
              const { value } = bundle.inputs as { value: number }
              if (capabilityId === `read-${value}`) throw new Error('It fails for this item')
              return { outcome: 'ok', output: { value: { value } }, issues: [], usage: { calls: 1 } }
            },
          },
        ],
      })
      const draft = { ...toNodes(steps, concurrency, false), output: { properties: { out: { value: 0 } } } }
      const { runId } = await app.run(envelope({}, { constraints: { maxAsks: 1000 } }), {
        draft: draft as never,
      })
      const seen: string[] = []
      for (let result = await app.result(runId); result.status === 'waiting'; ) {
        for (const { requestId, valueHash, kind, nodeId = '' } of await app.store.asks({
          runId,
          status: 'pending',
        })) {
          expect(kind).toBe('side_effect')
          seen.push(nodeId)
          await app.reply(runId, { requestId, valueHash, decision: 'approve', by: 'ann' })
        }
        result = await app.result(runId)
      }
      const { status } = await app.result(runId)
      expect(status, `seed ${seed}, concurrency ${concurrency}`).toBe('completed')
      expect(seen.sort(), `seed ${seed}, concurrency ${concurrency}`).toEqual([...expected].sort())
    }
    asked += expected.length
    if (expected.length === 0) unasked++
  }
  expect(asked).toBeGreaterThan(drafts)
  expect(unasked).toBeGreaterThan(0)
})
