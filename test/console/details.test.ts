/** What the pages promise in detail, tried as a person would: proofs, policies, attempts, words as they arrive, what-if, links and roles. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  approvedEnvelope,
  carefulEnvelope,
  demoCapabilities,
  demoProvider,
  postDraft,
  postEnvelope,
} from '../../scripts/console-demo.mjs'
import type { Provider } from '../../src/index.ts'
import {
  adminToken,
  closeConsole,
  loadPackage,
  loadServer,
  openConsole,
  patient,
  type ServedConsole,
  serveConsole,
  skipped,
  useBrowser,
} from './support.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const contract = { outputContract: { schema: text } }

/** A gate that a capability or a model waits at. */
function makeGate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** Writes the first half of its answer, and the rest when the gate is opened; `mute` writes no JSON at all. */
function slowProvider(gate: Promise<void>): Provider {
  return {
    name: 'slow',
    models: ['slow', 'mute'],
    async generate({ model, onText }) {
      const usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.5 }
      if (model === 'mute') return { kind: 'text', text: 'There is no tea today.', finish: 'stop', usage }
      onText?.('{"text": "Tea is ')
      await gate
      onText?.('ready"}')
      return { kind: 'text', text: '{"text": "Tea is ready"}', finish: 'stop', usage }
    },
  }
}

interface Gates {
  readonly begin: Promise<void>
  readonly steps: (() => void)[]
}

async function detailCapabilities(gates: Gates) {
  const { defineCapability } = await loadPackage()
  const work = { inputContract: { type: 'object' }, outputContract: text, idempotent: true } as const
  const model = { inputContract: { type: 'object' }, outputContract: text, kind: 'model' } as const
  const answer = {
    type: 'object',
    properties: {
      ok: { type: 'boolean', title: 'Fine as it is' },
      score: { type: 'integer', title: 'Score', minimum: 1, maximum: 5 },
    },
    required: ['ok', 'score'],
  }
  const person = { inputContract: { type: 'object' }, outputContract: answer, kind: 'human' } as const
  return [
    defineCapability({ ...model, capabilityId: 'slow.writer', preferredModels: ['slow/slow'] }),
    defineCapability({ ...model, capabilityId: 'mute.writer', preferredModels: ['slow/mute'] }),
    defineCapability({
      ...work,
      capabilityId: 'breaks',
      run: () => {
        throw new Error('The kettle is cold')
      },
    }),
    defineCapability({
      ...work,
      capabilityId: 'waits',
      async run(_inputs: unknown, { signal }: { signal: AbortSignal }) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return { text: 'never' }
      },
    } as never),
    defineCapability({
      ...work,
      capabilityId: 'gated',
      async run() {
        await gates.begin
        return { text: 'begun' }
      },
    }),
    defineCapability({
      ...work,
      capabilityId: 'stepped',
      async run() {
        await new Promise<void>((resolve) => gates.steps.push(resolve))
        return { text: 'stepped' }
      },
    }),
    defineCapability({ ...person, capabilityId: 'ann.review', human: { assignee: 'ann', priority: 'high' } }),
    defineCapability({ ...person, capabilityId: 'legal.review2', human: { role: 'legal' } }),
  ]
}

describe.skipIf(skipped)('in detail', () => {
  useBrowser()
  let served: ServedConsole
  let page: Page
  let opened: Awaited<ReturnType<typeof openConsole>>
  const [begin, words] = [makeGate(), makeGate()]
  /** Calls of `stepped` that wait to be let through. */
  const steps: (() => void)[] = []

  beforeAll(async () => {
    const pkg = await loadPackage()
    served = await serveConsole({
      capabilities: [
        ...demoCapabilities(pkg).capabilities,
        ...(await detailCapabilities({ begin: begin.opened, steps })),
      ],
      providers: [demoProvider(), slowProvider(words.opened)],
      facets: [
        {
          name: 'teaBrief',
          title: 'Tea brief',
          description: 'What the tea is for',
          schema: { type: 'object' },
          metadata: { version: '1', direction: 'bidirectional' },
          semantics: 'Read it first',
        },
      ],
      http: { allowLoopback: true },
    } as never)
    opened = await openConsole(served.address, { token: adminToken })
    ;({ page } = opened)
  })
  afterAll(async () => {
    await closeConsole(opened)
    await served.close()
  })

  const run = async (envelope: object, nodes?: readonly object[], more: object = {}) => {
    const draft = nodes && { nodes, output: { node: (nodes.at(-1) as { id: string }).id }, ...more }
    return (await served.app.run(envelope as never, (draft ? { draft } : {}) as never)).runId
  }
  const go = (path: string) => page.goto(`${served.address}${path}`)
  const status = (name: string) => page.getByTestId('run-status').getByText(name, { exact: true }).waitFor()

  it('the proof says of every part of the answer and of every constraint how certain it is, and where it comes from', async () => {
    const constrained = {
      ...postEnvelope,
      outputContract: {
        ...postEnvelope.outputContract,
        constraints: [
          { constraintId: 'rated', level: 'hard', expr: { '>=': [{ var: 'rating' }, 3] } },
          { constraintId: 'tagged', level: 'soft', expr: { '>=': [{ var: 'tags.length' }, 2] } },
        ],
      },
    }
    const runId = await run(constrained)
    await go(`/runs/${runId}?tab=proof`)
    const parts = page.getByTestId('proof-answer')
    await parts.locator('[data-path="/rating"].proved').waitFor()
    expect(await parts.locator('[data-path]').count()).toBe(4)
    const rating = parts.locator('[data-path="/rating"]')
    await rating.getByText('its input').click()
    await rating.getByText('/inputs/topic').waitFor()
    const constraints = page.getByTestId('proof-constraints')
    expect(await constraints.locator('[data-constraint=rated].proved').textContent()).toMatch(
      /rating >= 3.*by Copywriter/,
    )
    expect(await constraints.locator('[data-constraint=tagged].wished').textContent()).toContain(
      'not guaranteed',
    )
    await rating.getByRole('link', { name: 'Copywriter' }).click()
    await page.locator('[data-test=node-panel][aria-label="Node writer"]').waitFor()
    // The draft of a person is proved in the same way, over several nodes.
    await go(`/runs/${await run(postEnvelope, postDraft.nodes, { ...postDraft })}?tab=proof`)
    const headline = page.locator('[data-path="/headline"]')
    await headline.getByText('its 2 inputs').click()
    await headline.getByRole('link', { name: 'Research' }).waitFor()
  })

  it('compose shows what is missing of a plan that is not proved, completes by the schema, and has templates', async () => {
    await go('/compose')
    const editor = page.getByRole('textbox', { name: 'Envelope as JSON' })
    const write = async (value: string) => {
      await editor.press('Control+A')
      await editor.press('Delete')
      await page.keyboard.insertText(value)
    }
    const impossible = { type: 'object', properties: { rocket: { const: 'tea' } }, required: ['rocket'] }
    const policies = { planner: { selection: { forbid: ['proviso.answer'] } } }
    await write(JSON.stringify({ objective: 'Tea', outputContract: { schema: impossible }, policies }))
    await page.getByTestId('proof').getByText('rejected', { exact: true }).waitFor()
    await page.getByTestId('proof-answer').locator('.missing').waitFor()
    await write('{ "objective": "Tea", ')
    await page.keyboard.type('"polic')
    await page.getByRole('option', { name: '"policies"' }).waitFor()
    await page.keyboard.press('Enter')
    await editor.getByText('"policies": {}').waitFor()
    await page.getByLabel('Template').selectOption('With an approval at the end')
    await editor.getByText('askBeforeFinish').waitFor()
    await page.getByTestId('proof').getByText('accepted', { exact: true }).waitFor()
  })

  it('a node that was interrupted is cancelled, not failed', async () => {
    const runId = await run(
      { objective: 'Boil and wait', ...contract },
      [
        { id: 'wait', capabilityId: 'waits' },
        { id: 'boil', label: 'Boil', capabilityId: 'breaks', retry: { max: 1, backoffMs: 0 } },
        { id: 'end', capabilityId: 'gated' },
      ],
      {
        edges: [
          { from: 'wait', to: 'end' },
          { from: 'boil', to: 'end' },
        ],
      },
    )
    await go(`/runs/${runId}`)
    await page.locator('[data-node=boil][data-status=failed][aria-current=true]').waitFor()
    await page.locator('[data-node=wait][data-status=cancelled]').waitFor()
    await page.locator('[data-graph-node=wait].cancelled').waitFor()
    await page.getByTestId('run-error').getByText('Boil', { exact: true }).waitFor()
    // Both attempts are there, with their issues.
    await page.getByRole('group', { name: 'Attempts' }).getByRole('button').first().click()
    await page.waitForURL(/attempt=1/)
    await page.locator('.issue').getByText('attempt/provider_error').waitFor()
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await page
      .getByTestId('timeline')
      .getByText(/cancelled: The attempt was interrupted/)
      .waitFor()
    // Stepping through the past with the keyboard, and back.
    await page.getByTestId('scrubber').focus()
    await page.keyboard.press('Home')
    await page.getByText('You see the run as of event 1 of').waitFor()
    await page.getByRole('button', { name: 'Return to now' }).click()
    await page.getByTestId('timeline').getByText('Failed: The kettle is cold', { exact: true }).waitFor()
  })

  it('a text without a value is shown whole, with the issues and the place of each', async () => {
    await go(
      `/runs/${await run({ objective: 'Ask the mute', ...contract }, [{ id: 'write', capabilityId: 'mute.writer', retry: { max: 0 } }])}`,
    )
    await page.getByText('Model text, from which no value could be read').waitFor()
    expect(await page.getByTestId('raw').textContent()).toBe('There is no tea today.')
    await page.locator('.issue').getByText('no value was found').first().waitFor()
  })

  it('words appear in the node while a model writes them', async () => {
    const { id } = await served.app.start(
      { objective: 'Write slowly', ...contract } as never,
      {
        draft: {
          nodes: [
            { id: 'begin', capabilityId: 'gated' },
            { id: 'write', capabilityId: 'slow.writer' },
          ],
          edges: [{ from: 'begin', to: 'write' }],
          output: { node: 'write' },
        },
      } as never,
    )
    await go(`/runs/${id}?node=write`)
    await page.locator('[data-node=begin][data-status=running]').waitFor()
    await expect.poll(() => served.server.streams, patient).toBe(1)
    begin.open()
    await page.getByTestId('partial').getByText('Tea is').waitFor()
    words.open()
    await status('completed')
    await expect.poll(() => page.getByTestId('value').textContent(), patient).toContain('Tea is ready')
    expect(await page.getByTestId('partial').count()).toBe(0)
  })

  it('node panel, routes, items of a map and timeline follow the run while it happens', async () => {
    const texts = { type: 'object', properties: { texts: { type: 'array' } } }
    const { id } = await served.app.start(
      { objective: 'Follow me', inputs: { items: ['a', 'b'] }, outputContract: { schema: texts } } as never,
      {
        draft: {
          nodes: [
            { id: 'first', capabilityId: 'stepped' },
            {
              id: 'route',
              inputs: { text: { node: 'first', pointer: '/text' } },
              routing: {
                routes: [{ condition: { '==': [{ var: 'text' }, 'no'] }, to: 'other', label: 'no' }],
                elseTo: 'each',
              },
            },
            { id: 'other', capabilityId: 'stepped' },
            {
              id: 'each',
              inputs: { items: { envelope: '/inputs/items' } },
              map: {},
              body: { nodes: [{ id: 'item', capabilityId: 'stepped' }], output: { node: 'item' } },
            },
          ],
          edges: [
            { from: 'first', to: 'route' },
            { from: 'route', to: 'other' },
            { from: 'route', to: 'each' },
          ],
          output: { properties: { texts: { node: 'each' } } },
        },
      } as never,
    )
    await go(`/runs/${id}?node=route`)
    await page.getByTestId('routes').getByText('undecided').first().waitFor()
    const second = await opened.context.newPage()
    await second.goto(`${served.address}/runs/${id}?tab=timeline`)
    await second.getByTestId('timeline').getByText('Plan 1 proved').waitFor()
    await expect.poll(() => steps.length, patient).toBe(1)
    steps.shift()?.()
    await page.getByTestId('routes').locator('.taken').getByText('taken', { exact: true }).waitFor()
    await page.locator('[data-graph-node=other].skipped').waitFor()
    await page.locator('[data-node="each[0].item"][data-status=running]').waitFor()
    await second
      .getByTestId('timeline')
      .getByText(/other skipped/)
      .waitFor()
    await expect.poll(() => steps.length, patient).toBe(2)
    for (const step of steps.splice(0)) step()
    await status('completed')
    await page.locator('[data-node="each[1].item"][data-status=completed]').waitFor()
    await page.locator('[data-graph-node=each].completed').waitFor()
    await second.getByTestId('timeline').getByText('Run completed').waitFor()
    await second.close()
  })

  it('policies that acted are listed; a paused run is resumed, a waiting one is cancelled, and its time continues', async () => {
    const policy = {
      id: 'look-first',
      trigger: { kind: 'onNodeComplete', selector: { capabilityId: 'copy.writer' } },
      action: { type: 'pause', reason: 'A person checks first' },
    }
    await go(`/runs/${await run({ ...postEnvelope, policies: { runtime: [policy] } })}?tab=proof`)
    await page.getByText('Policies that acted').waitFor()
    await page.getByText(/look-first: .*onNodeComplete/).waitFor()
    await page.getByText('Paused: A person checks first').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await status('completed')
    const runId = await run(approvedEnvelope)
    await go(`/runs/${runId}`)
    const duration = () => page.locator('.facts').getByText(/^For/).textContent()
    const before = await duration()
    await expect.poll(duration, patient).not.toBe(before)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    expect((await download).suggestedFilename()).toBe(`${runId}.json`)
    await page.getByRole('button', { name: 'Cancel run' }).click()
    await status('cancelled')
    await page.getByRole('button', { name: 'Edit and run again' }).click()
    await page
      .getByRole('textbox', { name: 'Envelope as JSON' })
      .getByText('Announce the spring tea collection')
      .waitFor()
  })

  it('what if: another threshold shows the decision that would differ, and leads to its event', async () => {
    await go(`/runs/${await run(carefulEnvelope)}?tab=replay`)
    const panel = page.getByTestId('what-if')
    await panel.getByRole('button', { name: 'Replay' }).click()
    await page.getByTestId('replayed').getByText('none would differ').waitFor()
    await panel.getByRole('slider').fill('0.5')
    await panel.getByRole('button', { name: 'Replay' }).click()
    await page
      .getByTestId('replayed')
      .getByText(/[1-9]\d* would differ/)
      .waitFor()
    await page.getByRole('region', { name: 'Differences' }).getByRole('link').first().click()
    await page.getByText(/You see the run as of event/).waitFor()
  })

  it('the inbox shows whose tasks they are and what they are about; forms ask before they complain', async () => {
    const ann = await served.tokenFor('operator', 'ann')
    const { createToken } = await loadServer()
    const { token: bob } = await createToken(served.app.store.records.tokens, {
      role: 'operator',
      tenant: 'default',
      name: 'bob',
      taskRoles: ['legal'],
    })
    const answer = { outputContract: { schema: { type: 'object', properties: { ok: { type: 'boolean' } } } } }
    const runId = await run({ objective: 'Review the label', ...answer }, [
      { id: 'review', capabilityId: 'ann.review' },
    ])
    await run({ objective: 'Read the contract', ...answer }, [{ id: 'read', capabilityId: 'legal.review2' }])
    const count = async (token: string, view: string) => {
      const own = await openConsole(served.address, { token, path: `/inbox?view=${view}` })
      await own.page.locator('[data-ask] .about, [data-test=empty]').first().waitFor()
      const names = await own.page.locator('[data-ask] .about').allTextContents()
      await closeConsole(own)
      return names
    }
    expect(await count(bob, 'mine')).toEqual([])
    expect(await count(bob, 'my%20roles')).toEqual(['Read the contract'])
    const own = await openConsole(served.address, { token: ann, path: '/inbox?view=mine' })
    await own.page.locator('[data-ask]').getByText('Review the label').waitFor()
    // The number of open asks is in the menu and in the title.
    await own.page.getByRole('link', { name: /Inbox \d+ open/ }).waitFor()
    await expect.poll(() => own.page.title(), patient).toMatch(/^\(\d+\) Inbox/)
    await own.page.keyboard.press('u')
    await own.page.getByTestId('task').getByText('held by ann').waitFor()
    const form = own.page.getByTestId('ask-form')
    expect(await form.getByText('Is required').count()).toBe(0)
    await own.page.keyboard.press('Control+Enter')
    await expect.poll(() => form.getByText('Is required').count(), patient).toBe(2)
    await own.page.getByLabel('Fine as it is (required)').selectOption('no')
    await own.page.getByLabel('Score (required)').fill('9')
    await form.getByText('Must be at most 5').waitFor()
    await own.page.getByLabel('Score (required)').fill('2')
    await own.page.keyboard.press('Control+Enter')
    await own.page.getByTestId('said').getByText('Completed').waitFor()
    expect((await served.app.result(runId)).output).toMatchObject({ ok: false })
    await own.page.getByRole('button', { name: 'Decided' }).click()
    await own.page
      .getByTestId('decided')
      .getByText(/answer by ann/)
      .waitFor()
    await closeConsole(own)
  })

  it('an approval of two people says who is missing', async () => {
    await run({
      ...approvedEnvelope,
      policies: { approvers: 2, planner: { directives: { askBeforeFinish: true } } },
    })
    for (const [name, said] of [
      ['cleo', /1 more approval/],
      ['dan', /^Approved\.$/],
    ] as const) {
      const own = await openConsole(served.address, {
        token: await served.tokenFor('operator', name),
        path: '/inbox',
      })
      await own.page
        .getByText(/of 2 people have approved/)
        .or(own.page.locator('[data-ask]').last())
        .first()
        .waitFor()
      await own.page.locator('[data-ask]').last().click()
      await own.page.getByText(/of 2 people have approved/).waitFor()
      await own.page.keyboard.press('a')
      await own.page.getByTestId('said').getByText(said).waitFor()
      await closeConsole(own)
    }
  })

  it('health: changes by stage, and recommendations that lead to the runs they are about', async () => {
    for (let made = 0; made < 4; made++) await run(postEnvelope)
    await go('/health')
    await page.getByTestId('stages').getByText('semantic').waitFor()
    await page
      .getByRole('region', { name: 'By models' })
      .getByText(/extract \d+/)
      .waitFor()
    await page
      .locator('.issue', { hasText: 'writer' })
      .getByRole('link', { name: 'Show runs' })
      .first()
      .click()
    await page.getByTestId('narrowed').getByText('writer', { exact: true }).first().waitFor()
    await page.locator('.runs-row').first().waitFor()
    const objectives = await page.locator('.runs-row').allTextContents()
    expect(objectives.every((each) => each.includes('Announce the spring tea'))).toBe(true)
    await page.getByRole('button', { name: 'Remove the filter by step' }).click()
    await page.waitForURL((url) => !url.searchParams.has('step'))
  })

  it('capabilities: agents with their health, and who produces and consumes which facet', async () => {
    const { token } = await (await loadServer()).createToken(served.app.store.records.tokens, {
      role: 'agent',
      tenant: 'default',
      name: 'steeper',
    })
    const registered = await fetch(`${served.address}/api/v1/flex/capabilities/register`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        capabilityId: 'tea.steeper',
        version: '1.0.0',
        displayName: 'Steeper',
        summary: 'Steeps tea',
        inputContract: ['teaBrief'],
        outputContract: text,
        heartbeat: { intervalSeconds: 1, timeoutSeconds: 2 },
        endpoint: { url: 'http://127.0.0.1:9/work' },
      }),
    })
    expect(registered.status, await registered.clone().text()).toBe(201)
    await go('/capabilities')
    const agent = page.getByTestId('capability').filter({ hasText: 'tea.steeper' })
    await agent.getByText(/Last heartbeat/).waitFor()
    await agent.getByText('teaBrief').first().waitFor()
    expect(await page.getByText(/Last heartbeat/).count()).toBe(1)
    await page.locator('tr', { hasText: 'teaBrief' }).getByText('tea.steeper').waitFor()
    // It sends no heartbeat: the page says so by itself.
    await agent.getByText('inactive').waitFor({ timeout: 60_000 })
    await agent.getByText(/No heartbeat since/).waitFor()
  })

  it('an address of no page, a page for other roles and the sandbox without its flag say so and lead back', async () => {
    const response = await go('/no/such/page')
    expect(response?.status()).toBe(404)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    expect((await go('/flex/sandbox'))?.status()).toBe(404)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.getByRole('link', { name: 'Go to the first page' }).click()
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
    const carl = await openConsole(served.address, {
      token: await served.tokenFor('caller', 'carl'),
      path: '/inbox',
    })
    await carl.page.getByRole('heading', { name: 'Not for your role' }).waitFor()
    await closeConsole(carl)
    // Programs get the problem as JSON.
    const problem = await fetch(`${served.address}/no/such/page`)
    expect(problem.headers.get('content-type')).toContain('problem+json')
  })

  it('the theme is chosen, and stays after a reload', async () => {
    await go('/runs')
    const theme = () => page.evaluate('document.documentElement.dataset.theme')
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    await page.getByRole('button', { name: 'Theme: system' }).click()
    expect(await theme()).toBe('light')
    const light = await background()
    await page.getByRole('button', { name: 'Theme: light' }).click()
    expect(await theme()).toBe('dark')
    await page.reload()
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
    expect(await background()).not.toBe(light)
    await page.getByRole('button', { name: 'Theme: dark' }).click()
    expect(await theme()).toBeUndefined()
  })
})
