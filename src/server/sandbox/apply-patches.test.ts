/** Untrusted patches: valid ones are applied, and a patch with an invalid operation is refused as a whole. */
import { describe, expect, it } from 'vitest'
import { applyPatches, type Draft, type Patch, patchLimits } from './apply-patches.ts'

const draft: Draft = { objective: 'Tea', inputs: { topics: ['green', 'black'] } }
const apply = (...patches: unknown[]) => applyPatches(draft, patches as Patch[])

describe('applyPatches', () => {
  it('adds, removes and replaces, in order, and leaves the draft that it was given alone', () => {
    const patched = apply(
      { op: 'replace', path: '/objective', value: 'More tea' },
      { op: 'add', path: '/inputs/topics/-', value: 'white' },
      { op: 'add', path: '/inputs/topics/0', value: 'red' },
      { op: 'remove', path: '/inputs/topics/1' },
      { op: 'add', path: '/outputContract', value: {} },
      { op: 'add', path: '/outputContract/schema', value: { type: 'object' } },
    )
    expect(patched).toEqual({
      ok: true,
      draft: {
        objective: 'More tea',
        inputs: { topics: ['red', 'black', 'white'] },
        outputContract: { schema: { type: 'object' } },
      },
    })
    expect(draft).toEqual({ objective: 'Tea', inputs: { topics: ['green', 'black'] } })
  })

  it('an empty patch keeps the draft', () => {
    expect(apply()).toEqual({ ok: true, draft })
  })

  it.each([
    ['the prototype', { op: 'add', path: '/__proto__/polluted', value: 1 }],
    ['the prototype of a part', { op: 'add', path: '/inputs/__proto__/polluted', value: 1 }],
    ['the prototype itself', { op: 'replace', path: '/inputs/__proto__', value: { polluted: 1 } }],
    ['a constructor', { op: 'add', path: '/inputs/constructor/prototype/polluted', value: 1 }],
    ['a prototype in disguise', { op: 'add', path: '/inputs/topics/constructor', value: 1 }],
    ['what is inherited', { op: 'add', path: '/inputs/toString/polluted', value: 1 }],
    ['the length of a list', { op: 'replace', path: '/inputs/topics/length', value: 0 }],
    ['a place far behind the end of a list', { op: 'add', path: '/inputs/topics/999999', value: 1 }],
    ['a negative place', { op: 'add', path: '/inputs/topics/-1', value: 1 }],
    ['the whole', { op: 'replace', path: '', value: {} }],
    ['an unknown member', { op: 'add', path: '/secret', value: 1 }],
    ['move', { op: 'move', from: '/objective', path: '/inputs/x' }],
    ['copy', { op: 'copy', from: '/objective', path: '/inputs/x' }],
    ['test', { op: 'test', path: '/objective', value: 'Tea' }],
    ['nothing to replace', { op: 'replace', path: '/inputs/nothing', value: 1 }],
    ['nothing to remove', { op: 'remove', path: '/policies' }],
    ['a parent that is not there', { op: 'add', path: '/policies/runtime/0', value: 1 }],
    ['a parent that is no object', { op: 'add', path: '/objective/x', value: 1 }],
    ['no path', { op: 'add', value: 1 }],
    ['no value', { op: 'add', path: '/inputs/x' }],
    ['a path without end', { op: 'add', path: `/inputs/${'x/'.repeat(patchLimits.depth)}y`, value: 1 }],
    [
      'a path of many characters',
      { op: 'add', path: `/inputs/${'x'.repeat(patchLimits.pathLength)}`, value: 1 },
    ],
    ['a value without end', { op: 'add', path: '/inputs/x', value: 'x'.repeat(patchLimits.characters) }],
  ])('refuses %s, and changes nothing', (_, patch) => {
    expect(apply({ op: 'replace', path: '/objective', value: 'Changed' }, patch)).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/^(operation 1: )?\S/),
    })
    expect(draft).toEqual({ objective: 'Tea', inputs: { topics: ['green', 'black'] } })
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it('refuses more operations than its limit', () => {
    const many = Array.from({ length: patchLimits.patches + 1 }, () => ({
      op: 'replace',
      path: '/objective',
      value: 'x',
    }))
    expect(apply(...many)).toMatchObject({ ok: false, reason: expect.stringContaining('50') })
  })
})
