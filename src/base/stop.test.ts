import { describe, expect, it } from 'vitest'
import { createStop, withSignal } from './stop.ts'

describe('a stop', () => {
  it('calls listeners once on abort, and later listeners at once', () => {
    const stop = createStop()
    const calls: string[] = []
    stop.listen(() => calls.push('first'))
    stop.listen(() => calls.push('gone'))()
    expect(stop.aborted).toBe(false)
    stop.abort('why')
    stop.abort('again')
    stop.listen(() => calls.push('late'))
    expect(calls).toEqual(['first', 'late'])
    expect(stop).toMatchObject({ aborted: true, reason: 'why' })
  })

  it.each(['before', 'after'])('has one signal that is aborted with it, asked for %s', (when) => {
    const stop = createStop()
    const early = when === 'before' ? stop.signal : undefined
    stop.abort('why')
    expect(stop.signal).toMatchObject({ aborted: true, reason: 'why' })
    expect(early ?? stop.signal).toBe(stop.signal)
  })

  it('calls its listeners before the listeners of its signal', () => {
    const stop = createStop()
    const calls: string[] = []
    stop.signal.addEventListener('abort', () => calls.push('signal'))
    stop.listen(() => calls.push('stop'))
    stop.abort('why')
    expect(calls).toEqual(['stop', 'signal'])
  })

  it('makes the signal of a call when it is read, also through a copy', () => {
    let asked = 0
    const { signal } = createStop()
    const source = {
      get signal() {
        asked++
        return signal
      },
    }
    const call = withSignal({ runId: 'r' }, source)
    expect([Object.keys(call), asked]).toEqual([['runId', 'signal'], 0])
    expect({ ...call }).toEqual({ runId: 'r', signal })
    expect(asked).toBe(1)
  })
})
