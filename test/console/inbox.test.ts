/** The inbox under pressure: several asks at once, nested ones, one that expires while it is open, and no mouse. */
import { afterEach, describe, expect, it } from 'vitest'
import { approvedEnvelope, demoCapabilities, demoProvider } from '../../scripts/console-demo.mjs'
import {
  adminToken,
  closeConsole,
  loadPackage,
  openConsole,
  patient,
  type ServedConsole,
  serveConsole,
  skipped,
  useBrowser,
} from './support.ts'

describe.skipIf(skipped)('the inbox', () => {
  useBrowser()
  let served: ServedConsole | undefined
  afterEach(() => served?.close())

  const serve = async (more: object = {}) => {
    const { capabilities } = demoCapabilities(await loadPackage())
    served = await serveConsole({ capabilities, providers: [demoProvider()], ...more })
    return served
  }

  it('decides three asks of the items of a map, with the keyboard only', async () => {
    const { app, address, tokenFor } = await serve()
    const verdict = {
      type: 'object',
      properties: { verdict: { enum: ['good', 'bad'] }, reason: { type: 'string' } },
      required: ['verdict'],
    }
    const { runId } = await app.run(
      {
        objective: 'Review three texts',
        inputs: { texts: ['one', 'two', 'three'] },
        outputContract: {
          schema: {
            type: 'object',
            properties: { reviews: { type: 'array', items: verdict } },
            required: ['reviews'],
          },
        },
      },
      {
        draft: {
          nodes: [
            {
              id: 'each',
              inputs: { items: { envelope: '/inputs/texts' } },
              map: {},
              body: {
                nodes: [
                  { id: 'review', capabilityId: 'legal.review', inputs: { topic: { input: '/item' } } },
                ],
                output: { node: 'review' },
              },
            },
          ],
          output: { properties: { reviews: { node: 'each' } } },
        },
      },
    )
    const opened = await openConsole(address, {
      token: await tokenFor('operator', 'kim'),
      path: `/runs/${runId}`,
    })
    const { page } = opened
    // The run names every one of them, and leads to the inbox.
    await expect.poll(() => page.getByTestId('open-ask').count(), patient).toBe(3)
    await page.locator('[data-status=waiting][data-node*="each["]').first().waitFor()
    await page.getByRole('link', { name: 'Inbox' }).focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('[data-ask]').count(), patient).toBe(3)
    for (const left of [2, 1, 0]) {
      await page.getByTestId('ask-form').waitFor()
      await page.getByLabel('Verdict (required)').focus()
      // Chooses the first option of the list.
      await page.keyboard.type('good')
      await page.keyboard.press('Control+Enter')
      await expect.poll(() => page.locator('[data-ask]').count(), patient).toBe(left)
    }
    const result = await app.result(runId)
    expect(result.output).toMatchObject({
      reviews: [{ verdict: 'good' }, { verdict: 'good' }, { verdict: 'good' }],
    })
    await closeConsole(opened)
  })

  it('moves, approves and shows help without a mouse, and selects what arrives in an empty list', async () => {
    const { app, address } = await serve()
    const opened = await openConsole(address, { token: adminToken, path: '/inbox' })
    const { page } = opened
    await page.getByTestId('empty').waitFor()
    const { runId } = await app.run(approvedEnvelope)
    await page.getByTestId('ask-value').waitFor()
    await app.run(approvedEnvelope)
    await expect.poll(() => page.locator('[data-ask]').count(), patient).toBe(2)
    const current = () => page.locator('[data-ask][aria-current=true]').getAttribute('data-ask')
    const before = await current()
    await page.keyboard.press('j')
    await expect.poll(current, patient).not.toBe(before)
    await page.keyboard.press('k')
    await expect.poll(current, patient).toBe(before)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    // Keys are off in dialogs.
    await page.keyboard.press('a')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' })
    expect(await page.locator('[data-ask]').count()).toBe(2)
    await page.keyboard.press('a')
    await page.getByTestId('said').getByText('Approved').waitFor()
    expect((await app.result(runId)).status).toBe('completed')
    expect(await page.title()).toContain('Inbox')
    await closeConsole(opened)
  })

  it('an ask that expires while it is open stays in view with what happened', async () => {
    const { app, address } = await serve({ askMs: 8_000, pollMs: 200 })
    const { runId } = await app.run(approvedEnvelope)
    const opened = await openConsole(address, { token: adminToken, path: '/inbox' })
    const { page } = opened
    await page.getByTestId('ask-value').waitFor()
    await page.keyboard.press('r')
    await page.getByLabel('Why, and what should be different').fill('Not like this')
    await page.getByTestId('decided').getByText('expired').waitFor({ timeout: 60_000 })
    expect(await page.getByRole('button', { name: /^Approve|^Reject/ }).count()).toBe(0)
    expect((await app.result(runId)).status).toBe('failed')
    await closeConsole(opened)
  })
})
