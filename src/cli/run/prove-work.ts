/** Plans the envelope of a file, or takes its draft, and proves the plan. Shared by `prove` and `graph`. */
import { createApp } from '../../app.ts'
import { type Choice, prove, search, withBuiltins } from '../../plan/index.ts'
import type { Work } from '../input/read-work.ts'
import type { Unreadable } from '../read-input.ts'
import type { Proved } from '../render/proof-view.ts'

type Done = Proved & { readonly choices: readonly Choice[] }

export async function proveWork(
  work: Work,
  { assumeProviders }: { readonly assumeProviders?: true },
): Promise<Done | { readonly unreadable: Unreadable }> {
  const { envelope, draft, facets } = work
  if (envelope === undefined) return { unreadable: { message: 'the input has no envelope' } }
  const known = assumeProviders
    ? { capabilities: withBuiltins(work.capabilities.map(({ capability }) => capability)) }
    : await knownToRun(work)
  const request = { envelope, facets, version: 1, ...known }
  if (draft !== undefined) return { envelope, draft, proof: prove({ ...request, draft }), choices: [] }
  const found = search(request)
  if (found.proof.ok) return { envelope, ...found }
  return { envelope, ...found, proof: prove({ ...request, draft: found.draft, draftBy: 'planner' }) }
}

/** Returns the capabilities that `run` could execute here, and the inactive ones with the reason. */
async function knownToRun({ capabilities, facets, mcp }: Work) {
  const app = await createApp({ capabilities, facets, ...(mcp && { mcp }), claim: 'none' })
  try {
    return { capabilities: app.capabilities(), inactive: app.inactive() }
  } finally {
    await app.close()
  }
}
