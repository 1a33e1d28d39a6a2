/** `POST prove`: plans an envelope and proves that the plan can satisfy the contract. Nothing is stored or called. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import { parseDraft } from '../../domain/draft/parse-draft.ts'
import { parseEnvelope } from '../../domain/envelope/parse-envelope.ts'
import type { Parsed } from '../../domain/parse/parsed.ts'
import { answerRows, constraintRows } from '../../domain/plan/proof-rows.ts'
import { raoRows } from '../../domain/plan/rao-rows.ts'
import { conditionIssues } from '../../engine/decide/checks/conditions.ts'
import { prove, search } from '../../plan/index.ts'
import type { Route } from '../route.ts'
import { api, ok, refusals } from './parts.ts'
import { readStart, startBody } from './run-stream.ts'

const verdictRow = {
  type: 'object',
  required: ['name', 'verdict', 'sources', 'nodes'],
  properties: {
    name: { type: 'string' },
    verdict: { enum: ['proved', 'checked', 'wished', 'missing'] },
    sources: { type: 'array', items: { type: 'object' } },
    nodes: { type: 'array', items: { type: 'string' } },
    text: { type: 'string' },
  },
} as const

export const proveEnvelope: Route = {
  method: 'POST',
  path: `${api}/prove`,
  operation: 'proveEnvelope',
  summary: 'Plan an envelope, or check its draft, and prove whether it can satisfy the contract',
  roles: ['caller', 'operator'],
  body: startBody,
  replies: {
    200: ok('The proof, also for a plan that is rejected', {
      type: 'object',
      required: [
        'accepted',
        'status',
        'satisfactionScore',
        'failures',
        'warnings',
        'infos',
        'answer',
        'constraints',
        'choices',
      ],
      properties: {
        accepted: { type: 'boolean' },
        status: { type: 'string' },
        satisfactionScore: { type: 'number' },
        failures: { type: 'array', items: { type: 'object' } },
        warnings: { type: 'array', items: { type: 'object' } },
        infos: { type: 'array', items: { type: 'object' } },
        /** A verdict for every property of the answer, and for every constraint. */
        answer: { type: 'array', items: verdictRow },
        constraints: { type: 'array', items: verdictRow },
        choices: { type: 'array', items: { type: 'object' } },
        /** Which outputs are under which RAO contract, and its source. */
        rao: { type: 'array', items: { type: 'object' } },
        plan: { type: 'object' },
        draft: { type: 'object' },
      },
    }),
    ...refusals(413, 415, 422),
  },
  async handle({ body, caller }, { app }) {
    const start = readStart(body)
    const checkCondition = conditionIssues
    const envelope = usable(
      parseEnvelope(start.envelope, { checkCondition }),
      'envelope/invalid',
      'the envelope',
    )
    await app.agents?.update(caller.tenant)
    const request = {
      envelope,
      facets: app.facets(caller.tenant),
      capabilities: app.capabilities(caller.tenant),
    }
    const inactive = app.inactive(caller.tenant)
    const { draft, proof, choices } =
      start.draft === undefined
        ? searched(request, inactive)
        : checked(usable(parseDraft(start.draft, { checkCondition }), 'draft/invalid', 'The draft'), {
            ...request,
            inactive,
          })
    const bundle = proof.ok ? proof.plan.diagnostics : proof.diagnostics
    const proved = {
      contract: envelope.outputContract,
      output: proof.ok ? proof.plan.output : draft.output,
      nodes: proof.ok ? proof.plan.nodes : [],
      findings: [...bundle.failures, ...bundle.warnings, ...bundle.infos],
    }
    const answer = {
      accepted: proof.ok,
      ...bundle,
      answer: answerRows(proved),
      constraints: constraintRows(proved),
      choices,
      rao: proof.ok ? raoRows(proof.plan.nodes) : [],
      ...(proof.ok ? { plan: proof.plan } : { draft }),
    }
    // Plans and findings are JSON by construction; the redactor preserves the shape.
    return { status: 200, body: app.redactor.value(answer) as Json }
  },
}

type Request = Omit<Parameters<typeof prove>[0], 'draft' | 'version'>

/** Runs the search planner; if no plan is accepted, adds the inactive capabilities to the result. */
function searched(request: Parameters<typeof search>[0], inactive: ReadonlyMap<string, string>) {
  const found = search(request)
  if (found.proof.ok) return found
  return {
    ...found,
    proof: prove({
      ...request,
      inactive,
      draft: found.draft,
      draftBy: 'planner',
      version: 1,
      linearPatterns: true,
    }),
  }
}

function checked(draft: Parameters<typeof prove>[0]['draft'], request: Request) {
  return { draft, proof: prove({ ...request, draft, version: 1, linearPatterns: true }), choices: [] }
}

function usable<T>(parsed: Parsed<T>, code: 'envelope/invalid' | 'draft/invalid', what: string): T {
  if (parsed.ok) return parsed.value
  const { issues } = parsed
  throw new ProvisoError(code, `Cannot use ${what}: ${issues[0]?.message ?? ''}`, { issues })
}
