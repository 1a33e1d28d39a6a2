/** People at work in the console, in Chromium against a real server: from the envelope to the answer, with the keyboard, together, and across restarts. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  agentEnvelope,
  approvedEnvelope,
  carefulEnvelope,
  demoCapabilities,
  demoProvider,
  legalEnvelope,
  postDraft,
  postEnvelope,
} from '../../scripts/console-demo.mjs'
import type { ModelAnswer, Provider } from '../../src/index.ts'
import {
  adminToken,
  closeConsole,
  consoleFolder,
  loadPackage,
  loadServer,
  makeFolder,
  openConsole,
  type ServedConsole,
  serveConsole,
  skipped,
  useBrowser,
} from './support.ts'

describe.skipIf(skipped)('the console', () => {
  useBrowser()
  let served: ServedConsole
  let sent: readonly unknown[]

  beforeAll(async () => {
    const demo = demoCapabilities(await loadPackage())
    sent = demo.sent
    served = await serveConsole({ capabilities: demo.capabilities, providers: [demoProvider()] })
  })
  afterAll(() => served?.close())

  const start = async (envelope: object, draft?: object) => {
    const { runId } = await served.app.run(envelope as never, draft ? { draft: draft as never } : {})
    return runId
  }
  const askOf = async (runId: string) => (await served.app.store.asks({ runId, status: 'pending' }))[0]
  const status = (page: Page, text: string) =>
    page.getByTestId('run-status').getByText(text, { exact: true }).waitFor()

  it('compose, prove, run, low-confidence ask, edit and approve, complete', async () => {
    const opened = await openConsole(served.address, { token: adminToken, path: '/compose' })
    const { page } = opened
    const editor = page.getByRole('textbox', { name: 'Envelope as JSON' })
    // Emptied first: text that replaces highlighted text would get its style from the browser, which the policy blocks.
    const write = async (text: string) => {
      await editor.press('Control+A')
      await editor.press('Delete')
      await page.keyboard.insertText(text)
    }
    await write(JSON.stringify({ objective: 'Only this' }))
    await page
      .getByTestId('problem')
      .getByText(/outputContract/)
      .waitFor()
    await write(JSON.stringify(carefulEnvelope))
    await page.getByTestId('proof').getByText('accepted', { exact: true }).waitFor()
    await page.getByTestId('plan-preview').getByText('copy.writer').first().waitFor()
    expect(await served.app.store.runs({ search: 'Announce' })).toEqual([])
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await status(page, 'waiting')
    await page.getByRole('link', { name: 'Answer' }).click()
    await page.getByTestId('ask').getByText('Confidence 0.62: human review').waitFor()
    await page.keyboard.press('e')
    await page.getByLabel('Headline').fill('Spring in a cup')
    await page.keyboard.press('Control+Enter')
    await page.getByTestId('said').getByText('Edited and approved').waitFor()
    const [run] = await served.app.store.runs({ search: 'Announce' })
    await page.goto(`${served.address}/runs/${run?.runId}?tab=output`)
    await status(page, 'completed')
    await page.getByTestId('output').getByText('Spring in a cup').waitFor()
    expect((await served.app.result(run?.runId ?? '')).output).toMatchObject({ headline: 'Spring in a cup' })
    await closeConsole(opened)
  })

  it('reject with a note, and the value is made again with it', async () => {
    const runId = await start(approvedEnvelope)
    const ask = await askOf(runId)
    const opened = await openConsole(served.address, {
      token: adminToken,
      path: `/inbox/${encodeURIComponent(ask?.requestId ?? '')}`,
    })
    const { page } = opened
    await page.getByTestId('ask-value').getByText('First flush is here').waitFor()
    await page.keyboard.press('r')
    await page.getByLabel('Why, and what should be different').fill('Please make it warmer')
    await page.getByLabel('Then').selectOption('retry')
    await page.keyboard.press('Control+Enter')
    await page.getByTestId('said').getByText('Rejected').waitFor()
    const again = page.getByTestId('ask-value').getByText('First flush, warmly poured')
    await again.waitFor()
    await page.getByText('Please make it warmer').waitFor()
    await page.keyboard.press('a')
    await page.getByTestId('said').getByText('Approved').waitFor()
    expect((await served.app.result(runId)).status).toBe('completed')
    await closeConsole(opened)
  })

  it('an agent with tools asks before a tool acts', async () => {
    const runId = await start(agentEnvelope)
    expect(sent).toEqual([])
    const opened = await openConsole(served.address, { token: adminToken, path: `/runs/${runId}` })
    const { page } = opened
    await page.getByTestId('turn').getByText('needs approval').waitFor()
    await page.getByRole('link', { name: 'Answer' }).click()
    await page.getByTestId('ask').getByText('lets the agent call mail_send').waitFor()
    await page.getByRole('button', { name: /^Approve/ }).click()
    await page.getByTestId('said').getByText('Approved').waitFor()
    expect((await served.app.result(runId)).output).toEqual({ answer: 'Ann has a mail about the tea.' })
    expect(sent).toEqual([{ to: 'ann@example.com', text: 'The tea is here' }])
    await closeConsole(opened)
  })

  it('two operators at once: the second sees who was first, and keeps the typed text', async () => {
    const runId = await start(approvedEnvelope)
    const path = `/inbox/${encodeURIComponent((await askOf(runId))?.requestId ?? '')}`
    const ann = await openConsole(served.address, { token: await served.tokenFor('operator', 'ann'), path })
    const bob = await openConsole(served.address, { token: await served.tokenFor('operator', 'bob'), path })
    await bob.page.getByTestId('ask-value').waitFor()
    await bob.page.keyboard.press('r')
    await bob.page.getByLabel('Why, and what should be different').fill('Too short')
    await ann.page.getByTestId('ask-value').waitFor()
    await ann.page.keyboard.press('a')
    await ann.page.getByTestId('said').waitFor()
    await bob.page.keyboard.press('Control+Enter')
    await bob.page.getByTestId('problem').getByText('Someone else was first').waitFor()
    await bob.page
      .getByTestId('decided')
      .getByText(/approve by ann/)
      .waitFor()
    expect((await served.app.result(runId)).status).toBe('completed')
    await closeConsole(ann)
    await closeConsole(bob)
  })

  it('a task of a person is claimed, answered by a form, and completed, on a phone', async () => {
    const runId = await start(legalEnvelope)
    const opened = await openConsole(served.address, {
      token: await served.tokenFor('operator', 'lea'),
      path: `/inbox/${encodeURIComponent((await askOf(runId))?.requestId ?? '')}`,
      size: { width: 390, height: 844 },
    })
    const { page } = opened
    await page.getByLabel('Verdict (required)').selectOption({ label: 'good' })
    await page.getByLabel('Reason').fill('Nothing is promised')
    await page.getByRole('button', { name: 'Submit answer' }).click()
    await page.getByTestId('said').waitFor()
    expect((await served.app.result(runId)).output).toMatchObject({ verdict: 'good' })
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await closeConsole(opened)
  })

  it('shows routes taken and not taken, repairs beside the text, and steps through the past', async () => {
    const runId = await start(postEnvelope, postDraft)
    const opened = await openConsole(served.address, { token: adminToken, path: `/runs/${runId}?node=write` })
    const { page } = opened
    await status(page, 'completed')
    // Every repair is a difference in the text: what was removed, what was put, what was converted.
    const raw = page.getByTestId('raw')
    await raw.locator('del').getByText("'First flush is here'").waitFor()
    await raw.locator('ins').getByText('"First flush is here"').waitFor()
    await raw.locator('mark').getByText('"rating": "4"').waitFor()
    expect(await page.getByTestId('value').locator('mark').allTextContents()).toEqual([
      '"First flush is here"',
      '4',
    ])
    // Text and value are linked, and the keyboard steps through the repairs.
    await raw.locator('mark').getByText('"rating": "4"').hover()
    expect(await page.getByTestId('value').locator('.linked').allTextContents()).toEqual(['4'])
    await raw.focus()
    await page.keyboard.press('n')
    await page.getByTestId('repair-position').getByText('1 of 7: surroundings').waitFor()
    await page.keyboard.press('p')
    await page.getByTestId('repair-position').getByText('7 of 7: str->int').waitFor()
    await page.getByTestId('prompts').getByText('Prompt as sent').click()
    await page.getByTestId('prompts').getByText('First flush Darjeeling').first().waitFor()
    await page.goto(`${served.address}/runs/${runId}?node=route`)
    await page.getByTestId('routes').getByText('taken', { exact: true }).waitFor()
    expect(await page.getByTestId('routes').locator('.taken').textContent()).toContain('check')
    await page.getByTestId('routes').getByText('not taken').waitFor()
    await page.getByTestId('routes').getByText('rating < 3', { exact: true }).waitFor()
    await page.locator('[data-graph-node=legal].skipped').waitFor()
    expect(await page.locator('.plan-edge.untaken').count()).toBe(1)
    expect(await page.getByTestId('outline').locator('[data-status=skipped]').getAttribute('data-node')).toBe(
      'legal',
    )
    await page.goto(`${served.address}/runs/${runId}?tab=timeline&at=5`)
    await page.getByText('You see the run as of event 5').waitFor()
    await page.getByRole('button', { name: 'Return to now' }).click()
    await page.getByTestId('timeline').getByText('Run completed').waitFor()
    await closeConsole(opened)
  })
})

describe.skipIf(skipped)('a page that is open while the server is killed', () => {
  useBrowser()

  it('says so, reconnects by itself, and shows everything that followed', async () => {
    const pkg = await loadPackage()
    const store = `sqlite:${join(makeFolder(), 'runs.db')}`
    const options = { store, capabilities: demoCapabilities(pkg).capabilities, providers: [demoProvider()] }
    const first = await serveConsole(options)
    const { port } = new URL(first.address)
    const { runId } = await first.app.run(approvedEnvelope)
    const opened = await openConsole(first.address, { token: adminToken, path: `/runs/${runId}` })
    const { page } = opened
    await page.getByTestId('run-status').getByText('waiting').waitFor()
    await first.close()
    await page.getByTestId('offline').waitFor()
    const second = await serveConsole(options, { port: Number(port) })
    const [ask] = await second.app.store.asks({ runId, status: 'pending' })
    await second.app.reply(runId, {
      requestId: ask?.requestId ?? '',
      valueHash: ask?.valueHash ?? '',
      decision: 'approve',
      by: 'ann',
    })
    await page.getByTestId('run-status').getByText('completed').waitFor()
    await page.getByTestId('offline').waitFor({ state: 'detached' })
    const events = await second.app.store.read(runId, 0, 1_000)
    expect(await page.getByTestId('events').textContent()).toBe(String(events.length))
    await closeConsole(opened)
    await second.close()
  })
})

describe.skipIf(skipped)('the sandbox', () => {
  useBrowser()

  it('shows a banner while the model is busy, proposes changes as a difference, and keeps the draft in the browser', async () => {
    const { sandboxRoutes } = await loadServer()
    const reply = {
      reply: 'It is about matcha now.',
      patches: [{ op: 'replace', path: '/objective', value: 'About matcha' }],
    }
    const variant = { headline: 'White tea', body: 'Picked by hand.' }
    const answers: ModelAnswer[] = [
      { kind: 'throttled', message: 'busy', retryAfterMs: 1_000 },
      { kind: 'text', text: JSON.stringify(reply), finish: 'stop', usage: {} },
      { kind: 'text', text: JSON.stringify({ copyVariants: [variant, variant] }), finish: 'stop', usage: {} },
    ]
    const provider: Provider = {
      name: '*',
      generate: async () => answers.shift() ?? { kind: 'error', message: 'no answer is left', fatal: true },
    }
    const served: ServedConsole = await serveConsole(
      { providers: [provider] },
      {
        routes: sandboxRoutes({ generate: (request) => served.app.generate(request) }),
        console: { folder: consoleFolder, createPost: true },
      },
    )
    const opened = await openConsole(served.address, { token: adminToken, path: '/flex/sandbox' })
    const { page } = opened
    await page.getByLabel('Message').fill('Make it about matcha')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByTestId('retry').waitFor()
    expect(await page.getByLabel('Message').inputValue()).toBe('Make it about matcha')
    await page.getByTestId('retry').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByTestId('proposal').locator('ins').getByText('About matcha').waitFor()
    const editor = page.getByRole('textbox', { name: 'Envelope as JSON' })
    expect(await editor.textContent()).toContain('Write one line about tea')
    await page.getByRole('button', { name: 'Apply' }).click()
    await editor.getByText('About matcha').waitFor()
    await page.reload()
    await editor.getByText('About matcha').waitFor()
    await page.getByRole('button', { name: 'Create post…' }).click()
    await page.getByLabel('Topic').fill('white tea')
    await page.getByRole('button', { name: 'Build envelope' }).click()
    await editor.getByText('Write 2 LinkedIn post variants about white tea').waitFor()
    expect(await served.app.store.runs({})).toEqual([])
    expect(await served.app.store.records.registrations.list({})).toEqual([])
    // The approval shows what is pending: the exact value and its contract.
    await page.getByTestId('proof').getByText('accepted', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('link', { name: 'Answer' }).click()
    await page.getByTestId('ask-value').getByText('Picked by hand.').first().waitFor()
    await page.getByText('Contract', { exact: true }).click()
    await page.getByLabel('Contract').getByText('"minItems": 2').waitFor()
    await page.keyboard.press('a')
    await page.getByTestId('said').getByText('Approved').waitFor()
    await closeConsole(opened)
    await served.close()
  })
})

describe.skipIf(skipped)('untrusted text', () => {
  useBrowser()

  it('of models, names, notes and addresses is shown as text and runs nothing', async () => {
    const canary = `<img src=x onerror="document.title='pwned';alert(1)"><script>alert(2)</script>`
    const { defineCapability } = await loadPackage()
    const capabilities = [
      defineCapability({
        capabilityId: 'write',
        displayName: canary,
        summary: canary,
        inputContract: { type: 'object' },
        outputContract: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        idempotent: true,
        run: () => ({ text: canary }),
      }),
    ]
    const { createToken } = await loadServer()
    const served = await serveConsole({ capabilities })
    const { token } = await createToken(served.app.store.records.tokens, {
      role: 'operator',
      tenant: 'default',
      name: canary,
    })
    const { runId } = await served.app.run(
      {
        objective: canary,
        inputs: { topic: canary },
        outputContract: {
          schema: {
            type: 'object',
            properties: { text: { type: 'string', title: canary } },
            required: ['text'],
          },
        },
        policies: { requiresHitlApproval: true },
      },
      { draft: { nodes: [{ id: 'write', label: canary, capabilityId: 'write' }] } },
    )
    const paths = [
      '/runs',
      `/runs/${runId}`,
      `/runs/${runId}?tab=timeline`,
      `/runs/${runId}?tab=output&node=${encodeURIComponent(canary)}`,
      '/inbox',
      '/capabilities',
      `/runs/${encodeURIComponent(canary)}`,
      `/runs?q=${encodeURIComponent(canary)}`,
    ]
    const opened = await openConsole(served.address, { token })
    for (const path of paths) {
      await opened.page.goto(`${served.address}${path}`)
      await opened.page.getByRole('heading', { level: 1 }).waitFor()
      expect(await opened.page.locator('img[src=x]').count()).toBe(0)
      expect(await opened.page.title()).not.toContain('pwned')
    }
    await opened.page.goto(`${served.address}/inbox`)
    await opened.page.getByTestId('ask-value').getByText('onerror').waitFor()
    await closeConsole(opened)
    await served.close()
  })
})
