/** FLEX-103: the tools of the marketing flows as capabilities of a run: formats, knobs, scores, and a person where it is needed. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/index.ts'
import { marketing, marketingTools } from '../../src/presets/marketing/index.ts'
import { answer, open } from './support.ts'

const tools = { facets: marketing.facets, capabilities: marketingTools }
const anything = (...names: string[]) => ({
  schema: {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, {}])),
    required: names,
  },
})
const from = (name: string) => ({ [name]: { envelope: `/inputs/${name}` } })

describe('strategy_analyze_assets and strategy_plan_knobs', () => {
  const draft = {
    nodes: [
      { id: 'analyze', capabilityId: 'strategy_analyze_assets', inputs: from('assetBundle') },
      {
        id: 'knobs',
        capabilityId: 'strategy_plan_knobs',
        inputs: { ...from('objectiveBrief'), assetAnalysis: { node: 'analyze', pointer: '/assetAnalysis' } },
      },
    ],
    output: {
      properties: {
        assetAnalysis: { node: 'analyze', pointer: '/assetAnalysis' },
        planKnobs: { node: 'knobs', pointer: '/planKnobs' },
      },
    },
  }
  const plan = async (objective: string, assetBundle: readonly Json[]) => {
    const app = await open(tools)
    const done = await app.run(
      {
        objective,
        inputs: { objectiveBrief: { objective }, assetBundle },
        outputContract: anything('assetAnalysis', 'planKnobs'),
      },
      { draft },
    )
    expect(done.issues).toEqual([])
    return done.output as { assetAnalysis: unknown; planKnobs: unknown }
  }

  it('say which formats the assets allow, what the others lack, and set the levers by it', async () => {
    const assets = [
      { type: 'image/png', payload: 'https://cdn.example/tea.png' },
      { type: 'photo', payload: { url: 'https://cdn.example/cup' } },
      { type: 'notes', payload: 'Tea is warm' },
    ]
    expect(await plan('Three variants that make people sign up for the tea club', assets)).toEqual({
      assetAnalysis: {
        counts: { image: 2, video: 0, document: 0, link: 0, text: 1 },
        achievableFormats: ['text_post', 'single_image_post', 'carousel_post'],
        missing: {
          link_post: ['1 more link'],
          video_post: ['1 more video'],
          document_post: ['1 more document'],
        },
      },
      planKnobs: { variantCount: 3, ctaFocus: 'sign_up', length: 'short' },
    })
  })

  it('can do without assets, and stay between one and five variants', async () => {
    expect(await plan('Inform people about tea', [])).toMatchObject({
      assetAnalysis: { achievableFormats: ['text_post'] },
      planKnobs: { variantCount: 2, ctaFocus: 'learn_more', length: 'medium' },
    })
    expect(await plan('Write 40 posts to sell tea', [])).toMatchObject({
      planKnobs: { variantCount: 5, ctaFocus: 'buy' },
    })
  })
})

const good = {
  headline: 'A warm minute',
  body: 'Green tea warms you. It calms the day, and a cup takes two minutes.',
  callToAction: 'Try a cup today',
}
const bad = {
  headline: '',
  body: 'Our solutions guarantee really very risk-free results, simply leverage coffee.',
  callToAction: '',
}
const writerBrief = {
  angle: 'Tea calms',
  keyPoints: ['Green tea warms', 'A cup takes two minutes'],
  constraints: ['Never mention coffee'],
}
const qaRubric = { checks: ['readability', 'clarity', 'objective_fit', 'policy_risk'] }

/** Scores the variants and hands what does not pass to a person. */
const review = {
  nodes: [
    {
      id: 'score',
      capabilityId: 'qa_score_copy',
      inputs: { ...from('copyVariants'), ...from('writerBrief'), ...from('qaRubric') },
    },
    {
      id: 'person',
      capabilityId: 'hitl_escalate',
      inputs: { qaFindings: { node: 'score', pointer: '/qaFindings' } },
    },
  ],
  output: {
    properties: {
      qaFindings: { node: 'person', pointer: '/qaFindings' },
      recommendationSet: { node: 'score', pointer: '/recommendationSet' },
    },
  },
}
const reviewed = (copyVariants: readonly Json[], rubric: Json = qaRubric) => ({
  objective: 'Review the copy',
  inputs: { copyVariants, writerBrief, qaRubric: rubric },
  outputContract: anything('qaFindings', 'recommendationSet'),
})

describe('qa_score_copy', () => {
  it('passes copy that is readable, clear, to the point and safe, and always scores it alike', async () => {
    const app = await open(tools)
    const [first, second] = [
      await app.run(reviewed([good]), { draft: review }),
      await app.run(reviewed([good]), { draft: review }),
    ]
    expect(first).toMatchObject({
      status: 'completed',
      output: {
        qaFindings: {
          scores: { readability: 1, clarity: 1, objective_fit: 1, policy_risk: 1 },
          issues: [],
          overallStatus: 'pass',
          overallScore: 1,
        },
        recommendationSet: [],
      },
    })
    expect(second.output).toEqual(first.output)
  })

  it('applies exactly the checks of the rubric, with its thresholds', async () => {
    const app = await open(tools)
    const rubric = { checks: ['clarity'], thresholds: { clarity: 0 } }
    const done = await app.run(reviewed([bad], rubric), { draft: review })
    expect(done).toMatchObject({
      status: 'completed',
      output: { qaFindings: { scores: { clarity: 0 }, overallStatus: 'pass' } },
    })
  })
})

describe('hitl_escalate', () => {
  it('asks a person about copy that does not pass, and the run continues with what the person says', async () => {
    const app = await open(tools)
    const waiting = await app.run(reviewed([good, bad]), { draft: review })
    expect(waiting).toMatchObject({ status: 'waiting', openAsks: [expect.any(String)] })
    const [ask] = await app.store.asks({ runId: waiting.runId, status: 'pending' })
    const shown = JSON.stringify(ask?.value)
    for (const found of ['risk-free', 'forbids', 'coffee', 'no call to action', 'not covered'])
      expect(shown).toContain(found)
    await answer(app, waiting.runId, 'approve')
    const done = await app.result(waiting.runId)
    expect(done).toMatchObject({ status: 'completed', output: { qaFindings: { overallStatus: 'fail' } } })
    const { recommendationSet } = done.output as { recommendationSet: { severity: string }[] }
    expect(recommendationSet[0]?.severity).toBe('critical')
  })

  it('a person who rejects ends it', async () => {
    const app = await open(tools)
    const { runId } = await app.run(reviewed([bad]), { draft: review })
    await answer(app, runId, 'reject')
    expect((await app.result(runId)).status).toBe('failed')
  })
})

it('are planned with like any other capability', async () => {
  const app = await open(tools)
  const done = await app.run({
    objective: 'Review the copy',
    inputs: { copyVariants: [good], writerBrief, qaRubric },
    outputContract: anything('qaFindings'),
  })
  expect(done).toMatchObject({ status: 'completed', output: { qaFindings: { overallStatus: 'pass' } } })
})
