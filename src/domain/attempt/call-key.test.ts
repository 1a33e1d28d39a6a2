import { describe, expect, it } from 'vitest'
import { callInDoubt, type DoubtfulCall, doubted, firstKey, nextCall, turnTo } from './call-key.ts'

const mailed: DoubtfulCall = {
  nodeId: 'send',
  attempt: 1,
  planVersion: 1,
  capabilityId: 'mail',
  idempotencyKey: 'k1',
  idempotent: true,
  inputs: {},
  startedAt: 0,
  outcome: 'outcome_unknown',
}

describe('the key of calls', () => {
  it('stays while a call is in doubt, and changes once it is answered', () => {
    const key = doubted(firstKey(1), mailed)
    expect(callInDoubt(turnTo(key, 'mail'), 'mail')?.idempotencyKey).toBe('k1')
    expect(turnTo(key, 'mail').used).toBe(1)
    expect(nextCall(key, 'mail')).toEqual({ version: 1, logical: 2, used: 2, inDoubt: {} })
  })

  it('remembers the call in doubt of one capability while another is tried', () => {
    const key = turnTo(doubted(firstKey(1), mailed), 'letter')
    expect(key.logical).toBe(2)
    expect(callInDoubt(turnTo(key, 'mail'), 'mail')?.idempotencyKey).toBe('k1')
  })

  it('never gives a number twice', () => {
    const letter = nextCall(turnTo(doubted(firstKey(1), mailed), 'letter'), 'letter')
    const mail = nextCall(turnTo(letter, 'mail'), 'mail')
    expect([letter.logical, mail.logical, turnTo(mail, 'letter').logical]).toEqual([3, 4, 5])
  })

  it('is a number, also for a capability that is called like something every object has', () => {
    expect(callInDoubt(firstKey(1), 'constructor')).toBeUndefined()
    expect(turnTo(firstKey(1), 'constructor').logical).toBe(2)
  })
})
