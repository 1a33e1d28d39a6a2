/** Every command once as a process of its own. What each prints is promised by tests that share one process. */
import { expect, it } from 'vitest'
import { proviso } from '../support.ts'
import { approved, file, pathInFolder, paused, runFile } from './run-support.ts'

it('commands about runs follow each other as processes of their own', async () => {
  const store = ['--store', `sqlite:${pathInFolder('walk.db')}`]
  const waits = file('waits.json', runFile({ envelope: approved }))
  const rests = file('rests.json', runFile({ envelope: paused }))
  const by = ['--by', 'ann']
  const steps: readonly (readonly [number, string, ...(readonly string[])])[] = [
    [6, '', 'run', waits, '--run-id', 'a'],
    [0, 'a:ask:1', 'asks'],
    [0, 'Tea', 'reply', 'a:ask:1', 'approve', ...by, '--file', waits],
    [6, '', 'run', rests, '--run-id', 'b'],
    [0, 'Tea', 'resume', 'b', ...by, '--file', rests],
    [6, '', 'run', rests, '--run-id', 'c'],
    [0, '', 'cancel', 'c', ...by],
    [0, 'cancelled', 'runs'],
    [0, 'completed', 'show', 'a'],
    [0, '', 'replay', 'a', '--file', waits],
    [0, '3 runs', 'verify'],
    [0, '', 'health-check'],
    [0, '', 'token', 'list'],
    [0, '[]', 'deliveries', '--json'],
    [0, '', 'prune', '--older-than', '0s', '--yes'],
  ]
  for (const [code, stdout, ...args] of steps)
    expect(await proviso([...args, ...store]), args.join(' ')).toMatchObject({
      code,
      stdout: expect.stringContaining(stdout),
    })
}, 300_000)

it('commands that need no store are processes of their own, too', async () => {
  const pipeline = file(
    'p.yaml',
    'agents: { a: { model: openai/m, system_prompt: Write. } }\nsteps: [{ name: s, agent: a }]\n',
  )
  const schema = file('s.json', '{"type": "object"}')
  const steps: readonly (readonly [string, ...(readonly string[])])[] = [
    ['', 'validate', pipeline],
    ['write', 'prove', file('prove.json', runFile())],
    ['', 'config', '--json'],
    ['\n', 'schema', 'hash', schema],
    ['Usage', 'dev', '--help'],
  ]
  for (const [stdout, ...args] of steps)
    expect(await proviso(args), args.join(' ')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(stdout),
    })
}, 300_000)
