/** Calls as pages and specifications write them: carried out by the real `curl` in a real shell, or said by `fetch` where there is none. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { SseFrame } from './support.ts'

const hasCurl = spawnSync('curl', ['--version']).status === 0
if (!hasCurl) console.warn('curl is not installed: its calls are said by fetch.')

/** Who carries out the calls here; for the names of tests. */
export const caller = hasCurl ? 'curl' : 'fetch, FOR CURL IS NOT INSTALLED HERE'

export interface CallContext {
  /** What is in `envelope.json`. */
  readonly envelope: object
  /** Words that the shell fills in. */
  readonly env: { readonly [name: string]: string }
}

/** What the answer says; throws with the words of curl when it is a refusal. */
export async function callAsWritten(call: string, { envelope, env }: CallContext): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), 'proviso-curl-'))
  try {
    writeFileSync(join(cwd, 'envelope.json'), JSON.stringify(envelope))
    const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 }
    const shell = async (script: string) => (await promisify(execFile)('sh', ['-c', script], options)).stdout
    // The one word that is added: a refusal is a failure of the call.
    if (hasCurl) return await shell(call.trim().replace(/^curl /, 'curl --fail-with-body -sS '))
    const words = await shell(`${call.trim().replace(/^curl /, 'set -- ')}\nprintf '%s\\0' "$@"`)
    return await say(words.split('\0').slice(0, -1), JSON.stringify(envelope))
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

/** The options that pages and specifications use, and no others. */
async function say(args: string[], envelope: string): Promise<string> {
  const headers: [string, string][] = []
  let [body, url]: (string | undefined)[] = []
  for (let arg = args.shift(); arg !== undefined; arg = args.shift()) {
    if (arg === '-H') headers.push((args.shift() ?? '').split(': ', 2) as [string, string])
    else if (arg === '-d') body = args.shift()
    else if (arg.startsWith('http')) url = arg
    else if (arg !== '-N') throw new Error(`This call has an unknown option: ${arg}`)
  }
  const given = body === '@envelope.json' ? envelope : body
  const response = await fetch(url ?? '', {
    headers,
    ...(given !== undefined && { method: 'POST', body: given }),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`)
  return text
}

export const framesIn = (text: string): SseFrame[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))

/** The envelope that the specification shows with its calls. */
export const specified = {
  objective: 'Create LinkedIn post variants promoting AwesomePoster',
  inputs: {
    channel: 'linkedin',
    goal: 'attract_new_employees',
    variantCount: 2,
    contextBundles: [
      {
        type: 'company_profile',
        payload: {
          companyName: 'AwesomePoster',
          coreValue: 'Human-first automation',
          recentEvent: 'Summer retreat in Tahoe',
        },
      },
    ],
  },
  policies: { brandVoice: 'inspiring', requiresHitlApproval: false },
  specialInstructions: [
    'Variant A should highlight team culture.',
    'Variant B should highlight career growth opportunities.',
  ],
  outputContract: {
    mode: 'json_schema',
    schema: {
      type: 'object',
      required: ['copyVariants'],
      properties: {
        copyVariants: {
          type: 'array',
          minItems: 2,
          maxItems: 2,
          items: {
            type: 'object',
            required: ['headline', 'body', 'callToAction'],
            properties: {
              headline: { type: 'string' },
              body: { type: 'string' },
              callToAction: { type: 'string' },
            },
          },
        },
      },
    },
  },
}
