/**
 * Agents in TypeScript and Python whose process is killed in the middle of a call: the run completes, and what the call
 * does outside is done once. Also runs the tests of the Python module.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../seams/base.ts'
import { requireBuild, root } from '../support.ts'
import { hasPython } from './python.ts'
import { api, serveAgents } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'proviso-killed-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const children = new Set<ChildProcess>()
async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  children.delete(child)
  if (child.kill('SIGKILL')) await gone
}
afterEach(async () => {
  for (const child of children) await kill(child)
})

const input = '{"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]}'
const output = '{"type": "object", "properties": {"line": {"type": "string"}}, "required": ["line"]}'

/** Each notes every start, does its effect once per key, and hangs if HANG is yes. */
const programs = {
  typescript: `import { appendFileSync, existsSync } from 'node:fs'
import { createFileCallStore, serveAgent } from 'proviso/agent'
const { URL, TOKEN, FOLDER, HANG, AFTER, POLL } = process.env
await serveAgent({
  id: 'write', idempotent: true, input: ${input}, output: ${output}, server: { url: URL, token: TOKEN },
  calls: createFileCallStore(FOLDER + '/calls'), callbackAfterMs: Number(AFTER) * 1000, poll: POLL === 'yes',
  async run({ topic }, { idempotencyKey, signal }) {
    appendFileSync(FOLDER + '/starts', idempotencyKey + '\\n')
    if (!existsSync(FOLDER + '/effect-' + idempotencyKey)) appendFileSync(FOLDER + '/effect-' + idempotencyKey, 'done')
    if (HANG === 'yes') await new Promise((_, stop) => { signal.onabort = () => stop(appendFileSync(FOLDER + '/stopped', 'yes')) })
    return { line: 'Time for ' + topic + '.' }
  },
})
console.log('ready')
`,
  python: `import json, os, time
from proviso_agent import FileCallStore, serve_agent
env, folder = os.environ, os.environ["FOLDER"]
def write(inputs, context):
    with open(folder + "/starts", "a") as file: file.write(context.idempotency_key + "\\n")
    effect = folder + "/effect-" + context.idempotency_key
    if not os.path.exists(effect): open(effect, "a").write("done")
    if env["HANG"] == "yes" and context.cancelled.wait(60): raise RuntimeError(open(folder + "/stopped", "a").close())
    return {"line": "Time for " + inputs["topic"] + "."}
agent = serve_agent(id="write", idempotent=True, input=json.loads('${input}'), output=json.loads('${output}'), run=write,
    server={"url": env["URL"], "token": env["TOKEN"]}, calls=FileCallStore(folder + "/calls"),
    callback_after=float(env["AFTER"]), poll=env["POLL"] == "yes")
print("ready", flush=True)
agent.wait()
`,
}

/** Prepares the program of a language; returns the command. */
const prepare = {
  typescript(): readonly string[] {
    requireBuild()
    mkdirSync(join(folder, 'node_modules'), { recursive: true })
    if (!existsSync(join(folder, 'node_modules/proviso')))
      symlinkSync(root, join(folder, 'node_modules/proviso'), 'junction')
    writeFileSync(join(folder, 'agent.mjs'), programs.typescript)
    return [process.execPath, join(folder, 'agent.mjs')]
  },
  python(): readonly string[] {
    writeFileSync(join(folder, 'agent.py'), programs.python)
    return ['python3', join(folder, 'agent.py')]
  },
}

async function startAgent([command = '', ...args]: readonly string[], env: { [name: string]: string }) {
  const python = { PYTHONPATH: join(root, 'agents/python'), PYTHONDONTWRITEBYTECODE: '1' }
  const child = spawn(command, args, { env: { ...process.env, ...python, ...env } })
  children.add(child)
  let said = ''
  await new Promise<void>((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes('ready')) resolve()
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('exit', (code) => reject(new Error(`It ended with ${code}: ${said}`)))
  })
  return child
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo()))
    await new Promise<void>((resolve) => systemClock.timer(systemClock.now() + 20, resolve))
}

const languages = hasPython() ? (['typescript', 'python'] as const) : (['typescript'] as const)

describe.each(languages)('an agent in %s that is killed during a call', (language) => {
  /** Starts a server, an agent that hangs, and a run that calls it; resolves when the effect was done. */
  async function begin(after: string, poll: 'yes' | 'no' = 'no') {
    const command = prepare[language]()
    const own = mkdtempSync(join(folder, 'run-'))
    const { app, call, address, agentToken } = await serveAgents({ http: { workerLeaseMs: 1_500 } })
    const token = await agentToken('write')
    const env = { URL: address, TOKEN: token, FOLDER: own, AFTER: after, HANG: 'yes', POLL: poll }
    const first = await startAgent(command, env)
    const envelope = {
      objective: 'One line',
      inputs: { topic: 'tea' },
      outputContract: { schema: JSON.parse(output) },
    }
    const { runId } = await (await call(`${api}/runs`, { body: envelope })).json()
    await until(() => existsSync(join(own, 'starts')))
    const events = async () =>
      (await (await call(`${api}/runs/${runId}/events?limit=1000`)).json()).events.map(({ type }) => type)
    return {
      first,
      events,
      result: () => app.result(runId),
      cancel: () => app.cancel(runId, { by: 'ann' }),
      stopped: () => existsSync(join(own, 'stopped')),
      startNext: () => startAgent(command, { ...env, HANG: 'no' }),
      starts: () => readFileSync(join(own, 'starts'), 'utf8').trim().split('\n'),
      effect: (key: string) => readFileSync(join(own, `effect-${key}`), 'utf8'),
    }
  }

  it('is called again under the same key, at the process that takes over', async () => {
    const { first, startNext, result, starts, effect } = await begin('60')
    await startNext()
    await kill(first)
    expect(await result()).toMatchObject({ status: 'completed', output: { line: 'Time for tea.' } })
    const [key = '', ...repeated] = starts()
    expect(repeated).toEqual([key])
    expect(effect(key)).toBe('done')
  })

  it('hears of a cancelled run after it has accepted the call', async () => {
    const { events, cancel, result, stopped } = await begin('0')
    await until(async () => (await events()).includes('attempt_accepted'))
    await cancel()
    expect(await result()).toMatchObject({ status: 'cancelled' })
    await until(stopped)
  })

  it('finishes an accepted call when it is started again', async () => {
    const { first, events, startNext, result, starts, effect } = await begin('0')
    await until(async () => (await events()).includes('attempt_accepted'))
    await kill(first)
    await startNext()
    expect(await result()).toMatchObject({ status: 'completed', output: { line: 'Time for tea.' } })
    const [key = '', ...repeated] = starts()
    expect(repeated).toEqual([key])
    expect(effect(key)).toBe('done')
  })

  it('is a worker: another one gets the call under the same key', async () => {
    const { first, startNext, events, result, starts, effect } = await begin('0', 'yes')
    await startNext()
    await kill(first)
    expect(await result()).toMatchObject({ status: 'completed', output: { line: 'Time for tea.' } })
    const [key = '', ...repeated] = starts()
    expect(repeated).toEqual([key])
    expect(effect(key)).toBe('done')
    expect((await events()).filter((type) => type === 'attempt_start')).toHaveLength(1)
  })

  it('is a worker: it hears of a cancelled run', async () => {
    const { cancel, result, stopped } = await begin('0', 'yes')
    await cancel()
    expect(await result()).toMatchObject({ status: 'cancelled' })
    await until(stopped)
  })

  it('has at most 15 lines', () => {
    expect(programs[language].trimEnd().split('\n').length).toBeLessThanOrEqual(15)
  })
})

describe.runIf(languages.length > 1)('the Python module', () => {
  it('passes its own tests, with the shared signature vectors', () => {
    const done = spawnSync('python3', ['-B', '-m', 'unittest', '-v'], {
      cwd: join(root, 'agents/python'),
      encoding: 'utf8',
    })
    expect(done.stderr).toMatch(/Ran 4 tests[\s\S]*OK/)
    expect(done.status).toBe(0)
  })
})
