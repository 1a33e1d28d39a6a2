/** JSON mode of models, by name, so that no network request is needed; a server's refusal takes precedence. */

/** From the strongest to none: held to a schema, held to JSON, left alone. */
export type JsonMode = 'json_schema' | 'json_object' | 'none'

interface Profile {
  readonly provider: string
  readonly models: RegExp
  readonly mode: JsonMode
}

/** The first matching row wins; an unknown model is called with the strongest mode. */
export const profiles: readonly Profile[] = [
  {
    provider: 'openai',
    models: /^(o1-mini|o1-preview|gpt-3\.5-turbo-(0301|0613|instruct)|gpt-4(-0\d{3}|-32k.*)?$)/,
    mode: 'none',
  },
  { provider: 'openai', models: /^gpt-4o-2024-05-13$/, mode: 'json_object' },
  { provider: 'openai', models: /^(gpt-3\.5-turbo|gpt-4-turbo|gpt-4-\d{4}-preview)/, mode: 'json_object' },
  {
    provider: 'openai',
    models: /^(gpt-4o|gpt-4\.1|gpt-5|o1|o3|o4|ft:gpt-4o|ft:gpt-4\.1)/,
    mode: 'json_schema',
  },
  { provider: 'google', models: /^gemma/, mode: 'none' },
]

export function jsonModeOf(provider: string, model: string): JsonMode {
  const row = profiles.find((profile) => profile.provider === provider && profile.models.test(model))
  return row?.mode ?? 'json_schema'
}
