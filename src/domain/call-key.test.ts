import { describe, expect, it } from 'vitest'
import { doubted, firstKey, isInDoubt, nextCall, turnTo } from './call-key.ts'

describe('the key of calls', () => {
  it('stays while a call is in doubt, and changes once it is answered', () => {
    const key = doubted(firstKey(1), 'mail')
    expect(isInDoubt(key, 'mail')).toBe(true)
    expect(turnTo(key, 'mail').logical).toBe(1)
    expect(nextCall(key, 'mail')).toEqual({ version: 1, logical: 2, used: 2, inDoubt: {} })
  })

  it('remembers the call in doubt of one capability while another is tried', () => {
    const key = turnTo(doubted(firstKey(1), 'mail'), 'letter')
    expect(key.logical).toBe(2)
    expect(turnTo(key, 'mail').logical).toBe(1)
  })

  it('never gives a number twice', () => {
    const letter = nextCall(turnTo(doubted(firstKey(1), 'mail'), 'letter'), 'letter')
    const mail = nextCall(turnTo(letter, 'mail'), 'mail')
    expect([letter.logical, mail.logical, turnTo(mail, 'letter').logical]).toEqual([3, 4, 5])
  })

  it('is a number, also for a capability that is called like something every object has', () => {
    expect(isInDoubt(firstKey(1), 'constructor')).toBe(false)
    expect(turnTo(firstKey(1), 'constructor').logical).toBe(2)
  })
})
