/** A cassette for a test file: played by default, recorded when asked for, and a miss fails the test that made it. */
import { type Cassette, type CassetteOptions, cassette } from './cassette.ts'

/** What it needs of a test runner; vitest's own functions fit. */
export interface CassetteHooks {
  readonly afterEach: (check: () => void) => void
  readonly afterAll: (save: () => void) => void
}

/**
 * @example
 * import { afterAll, afterEach } from 'vitest'
 * const tape = useCassette({ afterAll, afterEach }, { file: 'test/tea.cassette.json', provider: openai({ apiKey }) })
 * const app = await createApp({ providers: [tape] })
 */
export function useCassette({ afterEach, afterAll }: CassetteHooks, options: CassetteOptions): Cassette {
  const tape = cassette(options)
  let reported = 0
  afterEach(() => {
    const news = tape.misses.slice(reported)
    reported = tape.misses.length
    if (news.length > 0) throw new Error(`${news.join('\n')}\nRecord it anew: mode "record", with a provider`)
  })
  afterAll(() => tape.save())
  return tape
}
