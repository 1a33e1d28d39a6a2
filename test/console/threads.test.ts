/** Conversations in Chromium against a real server: messages, asks answered in place, memory, restarts. */
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demoCapabilities, demoProvider } from '../../scripts/console-demo.mjs'
import type { Provider } from '../../src/index.ts'
import { root } from '../support.ts'
import {
  adminToken,
  closeConsole,
  loadPackage,
  makeFolder,
  openConsole,
  patient,
  type ServedConsole,
  serveConsole,
  skipped,
  useBrowser,
} from './support.ts'

const canary = '<img src=x onerror="alert(1)"><script>alert(2)</script>'
const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

/** Says the message again; a message with `slow` is written in two parts, the second one when `release` is called. */
function echo() {
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const provider: Provider = {
    name: 'echo',
    models: ['echo'],
    async generate({ prompt, onText }) {
      const [, message = ''] = /"question":\s*("(?:[^"\\]|\\.)*")/.exec(prompt) ?? []
      const said = message === '' ? '' : JSON.parse(message)
      const text = JSON.stringify({ answer: `You said: ${said}` })
      const half = text.length - 8
      onText?.(text.slice(0, half))
      if (said.includes('slow')) await gate
      onText?.(text.slice(half))
      return { kind: 'text', text, finish: 'stop', usage: { inputTokens: 1, outputTokens: 1 } }
    },
  }
  return { provider, release: () => release() }
}

describe.skipIf(skipped)('threads', () => {
  useBrowser()
  let served: ServedConsole
  let sent: readonly unknown[]
  const { provider, release } = echo()

  beforeAll(async () => {
    const pkg = await loadPackage()
    const demo = demoCapabilities(pkg)
    sent = demo.sent
    const question = { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] }
    const answer = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] }
    const parrot = pkg.defineCapability({
      capabilityId: 'parrot',
      displayName: 'Parrot',
      kind: 'model',
      inputContract: question,
      outputContract: answer,
      preferredModels: ['echo/echo'],
    })
    served = await serveConsole({
      capabilities: [...demo.capabilities, parrot],
      providers: [demoProvider(), provider],
      memory: true,
    })
  })
  afterAll(() => served?.close())

  it('begin with a message, ask in place, remember an approval, and are the same after a reload', async () => {
    const opened = await openConsole(served.address, { token: adminToken, path: '/threads' })
    const { page } = opened
    await page.getByTestId('no-threads').waitFor()
    await page.getByLabel('Name (optional)').fill('tea talk/1')
    await page.getByLabel('Answered by').selectOption('office.helper')
    const message = page.getByRole('textbox', { name: 'Message' })
    await message.fill('Please let Ann know about the tea')
    await message.press('Enter')
    await page.getByTestId('thread-name').getByText('tea talk/1').waitFor()
    const ask = page.getByTestId('ask')
    await ask.getByText('mail_send').first().waitFor()
    expect(sent).toEqual([])
    // A message that comes meanwhile waits for the run.
    await message.fill('And Bob')
    await message.press('Enter')
    await page.locator('[data-status=queued]').getByText('And Bob').waitFor()
    await ask.getByLabel('Approval covers').selectOption('thread')
    await ask.getByRole('button', { name: 'Approve' }).click()
    const answers = page.getByTestId('answer')
    await expect.poll(() => answers.count(), patient).toBe(2)
    expect(await answers.allTextContents()).toEqual(
      Array.from({ length: 2 }, () => 'Ann has a mail about the tea.'),
    )
    // The second run was allowed to by the first approval.
    expect(sent).toHaveLength(2)
    await page.locator('.asked').first().waitFor()
    await page.reload()
    await expect.poll(() => answers.count(), patient).toBe(2)
    expect(await page.getByTestId('message').allTextContents()).toEqual([
      'Please let Ann know about the tea',
      'And Bob',
    ])
    await page.getByRole('link', { name: 'Show run' }).first().click()
    await page.getByTestId('run-status').getByText('completed').waitFor()
    await page.goBack()
    await page.locator('[data-thread="tea talk/1"]').getByText('2 runs').waitFor()
    await closeConsole(opened)
  })

  it('refuse or interrupt by the rule, and render messages as text', async () => {
    const opened = await openConsole(served.address, { token: adminToken, path: '/threads' })
    const { page } = opened
    const name = `name ${canary}`
    await page.getByLabel('Name (optional)').fill(name)
    await page.getByLabel('Answered by').selectOption('Parrot (parrot)')
    const message = page.getByRole('textbox', { name: 'Message' })
    await message.fill(canary)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByTestId('answer').getByText(`You said: ${canary}`).waitFor()
    await page.getByTestId('thread-name').getByText(name).waitFor()
    expect(await page.locator('.messages img, .messages script').count()).toBe(0)
    await message.fill('slow')
    await message.press('Enter')
    // The words of the first call, although the page follows the run only after its start; a page that joins has them, too.
    const words = page.getByTestId('thread-partial').getByText('You')
    await words.waitFor()
    await page.reload()
    await words.waitFor()
    await page.getByLabel('While a run is under way').selectOption('reject')
    await message.fill('now')
    await message.press('Enter')
    await page
      .getByTestId('problem')
      .getByText(/is not over/)
      .waitFor()
    // What was typed stays.
    expect(await message.inputValue()).toBe('now')
    await page.getByLabel('While a run is under way').selectOption('interrupt')
    await message.press('Enter')
    await page.locator('[data-status=cancelled]').waitFor()
    await page.getByTestId('answer').getByText('You said: now').waitFor()
    release()
    await closeConsole(opened)
  })

  it('show and delete what agents remember', async () => {
    const { documents } = served.app.store.records
    for (const text of ['Ann likes green tea', canary])
      await documents.add({
        kind: 'memory',
        tenant: 'default',
        id: `memory-${text.length}`,
        body: { text, tags: ['taste'], runId: 'some-run' },
      })
    const opened = await openConsole(served.address, { token: adminToken, path: '/threads' })
    const { page } = opened
    await page.getByRole('button', { name: 'Memory' }).click()
    const memories = page.getByTestId('memory')
    await expect.poll(() => memories.count(), patient).toBe(2)
    await memories.getByText(canary).waitFor()
    await page.getByLabel('Search memories').fill('green')
    await expect.poll(() => memories.count(), patient).toBe(1)
    await memories.getByRole('button', { name: 'Delete' }).click()
    await memories.getByRole('button', { name: 'Delete for good' }).click()
    await page.getByTestId('no-memories').waitFor()
    await page.getByLabel('Search memories').fill('')
    await expect.poll(() => memories.count(), patient).toBe(1)
    await closeConsole(opened)
  })

  it('let a caller talk, but not decide or read the memory', async () => {
    const token = await served.tokenFor('caller', 'carl')
    const key = { tenant: 'default', threadId: 'callers' }
    await served.app.threads.say(key, {
      message: 'Please let Ann know',
      envelope: { outputContract: { schema: { type: 'object' } } },
      draft: {
        nodes: [
          {
            id: 'answer',
            capabilityId: 'office.helper',
            inputs: { question: { envelope: '/inputs/message' } },
          },
        ],
        output: { node: 'answer' },
      },
    })
    const opened = await openConsole(served.address, { token, path: '/threads/callers' })
    const { page } = opened
    await page.getByText(/Waits for a person/).waitFor()
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Memory' }).count()).toBe(0)
    await page.goto(`${served.address}/threads/no-such-thread`)
    await page
      .getByRole('alert')
      .getByText(/not found/)
      .waitFor()
    await closeConsole(opened)
  })
})

describe.skipIf(skipped)('a thread that is open while the process of the server is killed', () => {
  useBrowser()
  const children: ChildProcess[] = []
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL')
  })

  /** Starts the server as a process, and returns its address. */
  async function spawnServer(...args: readonly string[]) {
    const child = spawn(process.execPath, [join(root, 'test/console/serve-console.mjs'), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(child)
    const address = await new Promise<string>((resolve, reject) => {
      let said = ''
      child.once('exit', (code) => reject(new Error(`The server ended with ${code}`)))
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text
        const [, found] = /serves on (\S+)\n/.exec(said) ?? []
        if (found !== undefined) resolve(found)
      })
    })
    return { child, address }
  }

  it('answers the message under way and the one that waits, in order', async () => {
    const folder = makeFolder()
    const [store, gate] = [`sqlite:${join(folder, 'runs.db')}`, join(folder, 'gate')]
    const first = await spawnServer(store, '0', gate)
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' }
    const said = await fetch(`${first.address}/api/v1/flex/threads/killed/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        message: 'one',
        envelope: { outputContract: { schema } },
        draft: { nodes: [{ id: 'only', capabilityId: 'second' }], output: { node: 'only' } },
      }),
    })
    expect(said.status).toBe(202)
    const opened = await openConsole(first.address, { token: adminToken, path: '/threads/killed' })
    const { page } = opened
    await page.locator('[data-status=running]').waitFor()
    const message = page.getByRole('textbox', { name: 'Message' })
    await message.fill('two')
    await message.press('Enter')
    await page.locator('[data-status=queued]').waitFor()
    first.child.removeAllListeners('exit')
    first.child.kill('SIGKILL')
    await page.getByTestId('offline').waitFor()
    await spawnServer(store, new URL(first.address).port, gate)
    await page.getByTestId('offline').waitFor({ state: 'detached', timeout: 60_000 })
    writeFileSync(gate, '')
    const answers = page.getByTestId('answer')
    await expect.poll(() => answers.count(), patient).toBe(2)
    expect(await answers.allTextContents()).toEqual(['done after', 'done after'])
    expect(await page.getByTestId('message').allTextContents()).toEqual(['one', 'two'])
    await closeConsole(opened)
  })
})
