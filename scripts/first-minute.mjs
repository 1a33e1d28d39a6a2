// @ts-check
/** Builds the first output of `npm start`: runs the specification's sample, then suggests a curl, an approval to answer and a proof to read. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './setup.mjs'

/**
 * @typedef {{ runId: string, status: string, output?: { copyVariants?: { headline: string, body: string }[] }, issues?: { message: string }[] }} Ran
 * @typedef {{ runId: string, requestId: string, valueHash: string }} Ask
 */

const sample = 'examples/envelopes/linkedin-variants.json'
const api = '/api/v1/flex'

/** @param {string} address @returns {Promise<string>} */
export async function firstMinute(address) {
  const envelope = JSON.parse(readFileSync(join(root, sample), 'utf8'))
  const run = await post(address, `${api}/runs?wait=60`, envelope)
  const asking = { ...envelope, policies: { ...envelope.policies, requiresHitlApproval: true } }
  const waiting = await post(address, `${api}/runs?wait=60`, asking)
  const ask = await askOf(address, waiting.runId)
  return [
    '',
    ...ranLines(run),
    '',
    'Try three things:',
    '',
    '1. A run of your own, every event as it happens:',
    `   curl -N ${address}${api}/run.stream -H 'content-type: application/json' -d @${sample}`,
    '',
    ...approvalLines(address, ask),
    '',
    '3. A proof: why the plan of this envelope must satisfy its contract, before any model is called:',
    `   curl ${address}${api}/prove -H 'content-type: application/json' -d @${sample}`,
    `   npx proviso prove ${sample} --preset marketing`,
    '',
    `The API is described at ${address}/openapi.json. Ctrl-C ends the server, and its runs stay.`,
  ].join('\n')
}

/** @param {Ran} run */
function ranLines({ runId, status, output, issues = [] }) {
  const title = `The specification's sample (${sample}) ran as ${runId}: ${status}.`
  if (status !== 'completed') return [title, ...issues.map(({ message }) => `   ${message}`)]
  const variants = output?.copyVariants ?? []
  return [
    `${title} ${variants.length} variants, as its contract asks for:`,
    ...variants.map(({ headline, body }, index) => `   ${index + 1}. ${cut(headline)} / ${cut(body)}`),
  ]
}

/** @param {string} address @param {Ask | undefined} ask */
function approvalLines(address, ask) {
  if (!ask) return ['2. An approval: none is open; list them with', `   curl ${address}${api}/hitl`]
  const { runId, requestId, valueHash } = ask
  const reply = JSON.stringify({ requestId, valueHash, decision: 'approve' })
  return [
    '2. An approval: the same run again, but it waits for you. See what it asks, and answer:',
    `   curl ${address}${api}/hitl`,
    `   curl ${address}${api}/hitl/resolve -H 'content-type: application/json' -d '${reply}'`,
    '   And the result:',
    `   curl ${address}${api}/runs/${runId}`,
  ]
}

/**
 * @param {string} address
 * @param {string} runId
 * @returns {Promise<Ask | undefined>}
 */
async function askOf(address, runId) {
  const response = await fetch(`${address}${api}/hitl?runId=${runId}`)
  const { asks = [] } = /** @type {{ asks?: Ask[] }} */ (await response.json())
  return asks[0]
}

/**
 * @param {string} address
 * @param {string} path
 * @param {unknown} body
 * @returns {Promise<Ran>}
 */
async function post(address, path, body) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = /** @type {Ran & { detail?: string }} */ (await response.json())
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${answer.detail ?? ''}`)
  return answer
}

/** @param {string} text */
function cut(text) {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
