/** A loop runs its body round by round: each round's output is the next one's state, until the exit condition holds. */

import { describe, expect, it } from 'vitest'
import type { DraftInput } from '../../src/domain/envelope/envelope-input.ts'
import { createApp } from '../../src/index.ts'
import { envelope, runDraft, working } from './support.ts'

const add = working('add', (value: number) => value + 1)

const loopDraft = (loop: object) => ({
  nodes: [
    {
      id: 'refine',
      inputs: { state: { envelope: '/inputs/first' } },
      loop: { state: { type: 'object', required: ['n'], properties: { n: { type: 'number' } } }, ...loop },
      body: {
        nodes: [{ id: 'step', capabilityId: 'add', inputs: { value: { input: '/state/n' } } }],
        output: { properties: { n: { node: 'step', pointer: '/value' }, round: { input: '/round' } } },
      },
    },
  ],
  output: { properties: { out: { node: 'refine' } } },
})

describe('a loop', () => {
  it('ends when its exit condition holds of the state, under the ids node#round', async () => {
    const draft = loopDraft({ maxRounds: 9, until: { '>=': [{ var: 'n' }, 3] } })
    const { result, out, events } = await runDraft(draft, { first: { n: 0 } }, [add])
    expect(result.issues).toEqual([])
    expect(out).toEqual({ n: 3, round: 3 })
    const ends = events.filter((event) => event.type === 'iteration_end')
    expect(ends.map(({ nodeId, payload }) => [nodeId, payload.output])).toEqual([
      ['refine#1', { n: 1, round: 1 }],
      ['refine#2', { n: 2, round: 2 }],
      ['refine#3', { n: 3, round: 3 }],
    ])
  })

  it('without an exit condition goes all its rounds', async () => {
    const { out } = await runDraft(loopDraft({ maxRounds: 4 }), { first: { n: 0 } }, [add])
    expect(out).toEqual({ n: 4, round: 4 })
  })

  it('fails at its limit, which the error names', async () => {
    const draft = loopDraft({ maxRounds: 2, until: { '>=': [{ var: 'n' }, 100] } })
    const { result } = await runDraft(draft, { first: { n: 0 } }, [add])
    expect(result).toMatchObject({
      status: 'failed',
      error: { details: { code: 'loop/limit', limitName: 'maxRounds', limit: 2 } },
    })
  })

  it('accepts the last state at its limit where that is said', async () => {
    const draft = loopDraft({ maxRounds: 2, onMaxRounds: 'accept', until: { '>=': [{ var: 'n' }, 100] } })
    const { out } = await runDraft(draft, { first: { n: 0 } }, [add])
    expect(out).toEqual({ n: 2, round: 2 })
  })

  it('fails with the round whose output is no state', async () => {
    const wrong = working('add', (value: number) => (value === 0 ? 1 : 'many'))
    const { result } = await runDraft(loopDraft({ maxRounds: 3 }), { first: { n: 0 } }, [wrong])
    expect(result).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('refine#2'), details: { code: 'loop/state' } },
    })
  })
})

describe('the proof of a loop', () => {
  const proved = async (draft: DraftInput, constraint: object) => {
    const app = await createApp({ capabilities: [add] })
    try {
      const outputContract = {
        schema: { type: 'object', required: ['out'], properties: { out: true } },
        constraints: [{ constraintId: 'c', expr: constraint, level: 'hard' }],
      }
      return await app.run(envelope({ first: { n: 0 } }, { outputContract }), { draft: draft })
    } finally {
      await app.close()
    }
  }

  it('knows that the exit condition holds of what the loop yields', async () => {
    const draft = loopDraft({ maxRounds: 9, until: { '>=': [{ var: 'n' }, 3] } })
    expect(await proved(draft, { '>=': [{ var: 'out.n' }, 2] })).toMatchObject({ status: 'completed' })
  })

  it('does not take it for granted where the loop may end without it', async () => {
    const draft = loopDraft({ maxRounds: 9, onMaxRounds: 'accept', until: { '>=': [{ var: 'n' }, 3] } })
    expect(await proved(draft, { '>=': [{ var: 'out.n' }, 2] })).toMatchObject({
      status: 'failed',
      error: { type: 'PLAN_REJECTED' },
    })
  })
})
