/** `proviso thread` on the built file: say, show, list. */
import { expect, it } from 'vitest'
import { runCommand } from '../support.ts'
import { file, pathInFolder, scripted, text } from './run-support.ts'

it('says something in a thread, shows it, and lists threads', async () => {
  const store = `sqlite:${pathInFolder('threads.db')}`
  const given = file('thread.json', {
    envelope: { objective: 'Answer', outputContract: { schema: text } },
    draft: { nodes: [{ id: 'write', capabilityId: 'write' }] },
    capabilities: [scripted('write', [{ value: { text: 'Tea' } }])],
  })
  const say = (message: string, ...more: string[]) =>
    runCommand(['thread', 'say', 't 1', message, '--store', store, '--file', given, ...more])
  expect(await say('first')).toMatchObject({ code: 0, stdout: '{\n  "text": "Tea"\n}\n' })
  expect(await say('second', '--when-busy', 'reject')).toMatchObject({ code: 0 })
  const shown = await runCommand(['thread', 'show', 't 1', '--json', '--store', store])
  expect(JSON.parse(shown.stdout)).toMatchObject({
    threadId: 't 1',
    turns: [
      { message: 'first', status: 'completed', output: { text: 'Tea' } },
      { message: 'second', status: 'completed' },
    ],
    queued: [],
  })
  expect((await runCommand(['thread', 'show', 't 1', '--store', store])).stdout).toContain('> second')
  const listed = await runCommand(['thread', 'list', '--json', '--store', store])
  expect(JSON.parse(listed.stdout)).toMatchObject([{ threadId: 't 1', runs: 2 }])
  expect((await runCommand(['thread', 'list', '--store', store])).stdout).toMatch(/THREAD\s+RUNS/)
  const none = await runCommand(['thread', 'show', 'none', '--store', store])
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('Thread "none" not found') })
})
