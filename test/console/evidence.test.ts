/** What a page shows of models: prompts without secrets, failed nodes first, and evidence that does not outgrow a run. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DefinedCapability, Json, Provider } from '../../src/index.ts'
import {
  adminToken,
  closeConsole,
  loadPackage,
  loadPipelines,
  openConsole,
  type ServedConsole,
  serveConsole,
  skipped,
  useBrowser,
} from './support.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const secrets = {
  apiKey: 'plain-words-under-a-secret-key',
  note: 'Use sk-live-4f9aQ27bXz81LmN0pRs3 for it',
}
const shape = 'sk-live-4f9aQ27bXz81LmN0pRs3'

/** Breaks its first answer, so that a repair quotes it; in a loop, calls a tool until it has had enough turns. */
function makeProvider(): Provider {
  return {
    name: 'scripted',
    models: ['writer', 'looper'],
    tools: true,
    async generate({ model, prompt, messages = [] }) {
      const usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.001 }
      if (model === 'writer') {
        const isFirst = !prompt.includes('is missing') && !/previous|issues/i.test(prompt)
        return { kind: 'text', finish: 'stop', usage, text: isFirst ? '{"txt": 1}' : '{"text": "Tea"}' }
      }
      const turn = messages.filter(({ role }) => role === 'assistant').length + 1
      const wanted = Number(/turns (\d+)/.exec(JSON.stringify(messages))?.[1] ?? 1)
      if (turn >= wanted) {
        const answer = '{"text": "Done"}'
        return { kind: 'text', text: answer, finish: 'stop', usage, parts: [{ type: 'text', text: answer }] }
      }
      const input = JSON.stringify({ page: turn })
      return {
        kind: 'text',
        text: '',
        finish: 'stop',
        usage,
        parts: [{ type: 'tool-call', toolCallId: `call-${turn}`, toolName: 'read_page', input }],
      }
    },
  }
}

async function serveEvidence(): Promise<ServedConsole> {
  const { defineAgent, defineCapability, tool } = await loadPackage()
  return serveConsole({
    providers: [makeProvider()],
    capabilities: [
      defineCapability({
        capabilityId: 'writer',
        kind: 'model',
        inputContract: {
          type: 'object',
          properties: { apiKey: { type: 'string' }, note: { type: 'string' } },
        },
        outputContract: text,
        settings: { model: 'scripted/writer' },
      }),
      defineCapability({
        capabilityId: 'breaks',
        inputContract: { type: 'object' },
        outputContract: text,
        idempotent: true,
        run: () => {
          throw new Error('The kettle is cold')
        },
      }),
      defineAgent({
        id: 'looper',
        model: 'scripted/looper',
        instructions: 'Read the pages.',
        input: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] },
        output: text,
        limits: { turns: 100 },
        tools: [
          tool({
            id: 'read_page',
            description: 'Reads a page',
            input: { type: 'object', properties: { page: { type: 'integer' } }, required: ['page'] },
            output: { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] },
            idempotent: true,
            run: ({ page }: { page: number }) => ({ words: `Page ${page}: ${'tea '.repeat(200)}` }),
          } as never),
        ],
      }),
    ],
  })
}

describe.skipIf(skipped)('what is shown of models', () => {
  useBrowser()
  let served: ServedConsole
  beforeAll(async () => {
    served = await serveEvidence()
  })
  afterAll(() => served?.close())

  const run = (capabilityId: string, inputs: Json, more: object = {}) =>
    served.app.run({ objective: `Run ${capabilityId}`, inputs, outputContract: { schema: text } } as never, {
      draft: { nodes: [{ id: 'work', capabilityId, ...more }], output: { node: 'work' } } as never,
    })
  const get = async (path: string) => {
    const response = await fetch(`${served.address}/api/v1/flex${path}`, {
      headers: { authorization: `Bearer ${adminToken}` },
    })
    expect(response.status).toBe(200)
    return (await response.json()) as { events: { id: number; type: string; payload: never }[] }
  }

  it('prompts as sent have no secret of the inputs, in the page and in the events', async () => {
    const { runId } = await run('writer', secrets)
    const { events } = await get(`/runs/${runId}/events?after=0&limit=500`)
    const prompts = events.flatMap(({ type, payload }) =>
      type === 'attempt_end' ? ((payload as { prompts?: { prompt: string }[] }).prompts ?? []) : [],
    )
    // The inputs are there, and so is the repair that quotes the first answer.
    expect(prompts.length).toBeGreaterThan(1)
    expect(prompts[0]?.prompt).toContain('for it')
    const opened = await openConsole(served.address, { token: adminToken, path: `/runs/${runId}?node=work` })
    const { page } = opened
    await page.getByTestId('prompts').locator('summary').click()
    await page.getByLabel('Message').first().waitFor()
    const shown = await page.evaluate('document.documentElement.outerHTML')
    for (const secret of [secrets.apiKey, shape])
      for (const seen of [JSON.stringify(events), String(shown)]) expect(seen).not.toContain(secret)
    expect(shown).toContain('for it')
    await closeConsole(opened)
  })

  it('a failed run opens on the node that failed, with its error', async () => {
    const { runId } = await served.app.run({ objective: 'Fail', outputContract: { schema: text } } as never, {
      draft: {
        nodes: [
          { id: 'first', capabilityId: 'writer' },
          { id: 'broken', capabilityId: 'breaks', retry: { max: 0 } },
          { id: 'last', capabilityId: 'writer' },
        ],
        edges: [
          { from: 'first', to: 'broken' },
          { from: 'broken', to: 'last' },
        ],
        output: { node: 'last' },
      } as never,
    })
    const opened = await openConsole(served.address, { token: adminToken, path: `/runs/${runId}` })
    const { page } = opened
    await page.locator('[data-node=broken][aria-current=true][data-status=failed]').waitFor()
    const panel = page.locator('[data-test=node-panel][aria-label="Node broken"]')
    await panel.getByText('The kettle is cold').first().waitFor()
    expect(await page.getByTestId('run-error').textContent()).toContain('broken')
    await closeConsole(opened)
  })

  it('events?last=N are the newest, in order', async () => {
    const { runId } = await run('looper', { question: 'turns 6' })
    const all = (await get(`/runs/${runId}/events?after=0&limit=500`)).events
    expect(all.length).toBeGreaterThan(20)
    for (const count of [1, 7, all.length, all.length + 10]) {
      const { events } = await get(`/runs/${runId}/events?last=${Math.min(count, 500)}`)
      expect(events).toEqual(all.slice(-count))
    }
  })

  it('the journal of an agent grows with its turns, not with their square', async () => {
    const sizes = new Map<number, number>()
    for (const turns of [10, 20, 40]) {
      const { runId, status } = (await run('looper', { question: `turns ${turns}` })) as {
        runId: string
        status: string
      }
      expect(status).toBe('completed')
      let bytes = 0
      for (let after = 0; ; ) {
        const page = await served.app.store.read(runId, after)
        if (page.length === 0) break
        bytes += JSON.stringify(page).length
        after = page.at(-1)?.seq ?? 0
      }
      sizes.set(turns, bytes)
    }
    const [few = 0, some = 0, many = 0] = [10, 20, 40].map((turns) => sizes.get(turns))
    // Twice the turns add twice as much; whole conversations per turn would add four times as much.
    expect((many - some) / (some - few)).toBeLessThan(2.4)
    // One page is 800 characters: a turn keeps a few of them.
    expect((many - some) / 20).toBeLessThan(8_000)
  })
})

/** What an element of the page has; the types of pages are not loaded here. */
interface Attributed {
  getAttribute(name: string): string | null
}

describe.skipIf(skipped)('the run of a pipeline', () => {
  useBrowser()

  it('is shown as its author wrote it', async () => {
    const { compilePipeline, parsePipeline, readYaml } = await loadPipelines()
    const read = readYaml(branches, 'branches.yaml')
    const parsed = read.ok ? parsePipeline(read.document) : read
    const made = parsed.ok ? compilePipeline(parsed.pipeline, { input: { style: 'short' } }) : parsed
    if (!made.ok) throw new Error(JSON.stringify(made.issues))
    const { envelope, draft, capabilities } = made.compiled
    const served = await serveConsole({
      providers: [makeProvider()],
      capabilities: [...capabilities] as DefinedCapability[],
    })
    const { runId, status } = await served.app.run(envelope, { draft })
    expect(status).toBe('completed')
    const opened = await openConsole(served.address, { token: adminToken, path: `/runs/${runId}` })
    const { page } = opened
    const shown = ['length', 'length/short/write', 'length/long/write', 'publish'].sort()
    await page.locator('[data-graph-node="length/long/write"].skipped').waitFor()
    const ids = (attribute: string) =>
      page
        .locator(`[${attribute}]`)
        .evaluateAll(
          (found, name) =>
            (found as unknown as Attributed[]).map((each) => each.getAttribute(name) ?? '').sort(),
          attribute,
        )
    expect(await ids('data-graph-node')).toEqual(shown)
    expect(await ids('data-node')).toEqual(shown)
    // The edges of the plan, with the branch that was not taken before and after its step.
    expect([
      await page.locator('.plan-edge').count(),
      await page.locator('.plan-edge.taken').count(),
      await page.locator('.plan-edge.untaken').count(),
    ]).toEqual([4, 2, 2])
    await page.getByRole('tab', { name: 'Timeline' }).click()
    const timeline = page.getByTestId('timeline')
    await timeline.getByText('Run completed').waitFor()
    expect(await timeline.getByText('publish.input').count()).toBe(0)
    await page.getByLabel('All steps').check()
    await timeline.getByText('publish.input').first().waitFor()
    await closeConsole(opened)
    await served.close()
  })
})

const branches = `
name: branches
agents:
  writer: { model: scripted/writer, output_schema: { type: object, properties: { text: { type: string } } } }
steps:
  - name: length
    kind: conditional
    condition_expression: "{{ input.style }}"
    default_branch: long
    branches:
      short: [{ name: write, agent: writer, input: "In five words" }]
      long: [{ name: write, agent: writer, input: "At length" }]
  - { name: publish, agent: writer, input: "Publish {{ steps.length.output }}" }
`

describe.skipIf(skipped)('motion', () => {
  useBrowser()

  it('stops if the system asks for less motion, and only then', async () => {
    const served = await serveConsole()
    const count = async (reducedMotion: 'reduce' | 'no-preference') => {
      const opened = await openConsole(served.address, {
        token: adminToken,
        path: '/capabilities',
        reducedMotion,
      })
      const { page } = opened
      // The list never comes: its place moves while it is loaded.
      await page.route('**/api/v1/flex/runs?*', () => {})
      await page.getByRole('link', { name: 'Runs', exact: true }).click()
      await page.locator('.skeleton').first().waitFor()
      const moving = await page.evaluate('document.getAnimations().length')
      await closeConsole(opened)
      return moving
    }
    expect(await count('no-preference')).toBeGreaterThan(0)
    expect(await count('reduce')).toBe(0)
    await served.close()
  })
})
