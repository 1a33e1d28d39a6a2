/** Takes the files out of the inputs of a model, and checks them: well-formed, not too large, of a type that its provider takes. */
import type { Issue } from '../../../base/errors/issue.ts'
import type { Json } from '../../../base/json.ts'
import { takeFiles as readFiles, type Taken, type TakenFile } from '../../../domain/content/file-value.ts'
import type { AttemptResult } from '../../../domain/output.ts'
import type { Provider } from '../../../domain/ports/provider.ts'
import { parseModelId } from '../../providers/model-id.ts'

interface Target {
  /** `provider/model`. */
  readonly model: string
  readonly provider: Provider
}

/** The inputs without their files, and the files; or how the attempt ends, before anything is sent. */
export async function takeFiles(
  inputs: Json,
  target: Target,
): Promise<Omit<Taken, 'issues'> | { readonly refused: AttemptResult }> {
  const taken = readFiles(inputs)
  const issues = [...taken.issues, ...(await refuseTypes(taken.files, target))]
  if (issues.length === 0) return taken
  const refused = { outcome: 'provider_error', issues, usage: { calls: 0 }, model: target.model } as const
  return { refused: { ...refused, notApplied: true, final: true } }
}

/** Reports each file that the provider does not take, at its place in the inputs. */
export async function refuseTypes(
  files: readonly TakenFile[],
  { model: id, provider }: Target,
): Promise<readonly Issue[]> {
  const { model } = parseModelId(id)
  const taken = await Promise.all(
    files.map(({ mediaType }) => provider.takesFile?.({ model, mediaType }) ?? false),
  )
  return files.flatMap(({ pointer, mediaType }, index): Issue[] =>
    taken[index]
      ? []
      : [
          {
            code: 'model/file-refused',
            at: { pointer },
            message: `Cannot send the file: the provider of "${id}" does not take ${mediaType}`,
            hint: 'Convert the file, or prefer a model that takes it; docs/reference/models.md lists the types',
          },
        ],
  )
}
