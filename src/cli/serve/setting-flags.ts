/** Flags of `proviso serve` that are also settings of `proviso.toml`. */
import type { Command } from 'commander'
import type { ServerKey, ServerSettings, SettingFlag } from '../../pipeline/index.ts'
import type { ServerLimits } from '../../server/index.ts'

interface FlagRow {
  readonly flag: string
  readonly argument: string
  readonly key: ServerKey
  readonly what: string
}

/** Each flag with its setting; `proviso config --explain` lists all settings, including those without a flag. */
const flagTable: readonly FlagRow[] = [
  {
    flag: '--planner',
    argument: '<mode>',
    key: 'planner.mode',
    what: 'draft plans by search, model, or auto: the model first, then search (default: auto with a planner model, else search)',
  },
  {
    flag: '--planner-model',
    argument: '<id>',
    key: 'planner.model',
    what: 'planner model, as provider/model (default: $FLEX_PLANNER_MODEL, else the default model)',
  },
  {
    flag: '--planner-timeout',
    argument: '<ms>',
    key: 'planner.timeout_ms',
    what: 'timeout of one planner call (default: $FLEX_PLANNER_TIMEOUT_MS, else 240000)',
  },
  {
    flag: '--planner-rows',
    argument: '<n>',
    key: 'planner.max_capabilities',
    what: 'maximum number of capabilities in the planner prompt (default: $FLEX_PLANNER_CRCS_MAX_ROWS, else 80)',
  },
  {
    flag: '--body-limit',
    argument: '<bytes>',
    key: 'server.body_bytes',
    what: 'maximum size of a request body (default: 1048576)',
  },
  {
    flag: '--answer-limit',
    argument: '<bytes>',
    key: 'server.answer_bytes',
    what: 'maximum size of an answer of an HTTP agent (default: 1048576)',
  },
  {
    flag: '--rate-limit',
    argument: '<n>',
    key: 'server.rate_requests',
    what: 'requests per token in ten seconds, 0 for no limit (default: 1000)',
  },
  {
    flag: '--retention',
    argument: '<time>',
    key: 'retention.keep',
    what: 'delete finished runs after this time, such as 12h or 30d (default: keep them)',
  },
]

export function addSettingFlags(command: Command): Command {
  for (const { flag, argument, what } of flagTable) command.option(`${flag} ${argument}`, what)
  return command
}

/** Converts the flags that commander parsed to settings. */
export function settingFlags(flags: Readonly<Record<string, unknown>>): readonly SettingFlag[] {
  return flagTable.flatMap(({ flag, key }) => {
    const text = flags[camelName(flag)]
    return typeof text === 'string' ? [{ key, flag, text }] : []
  })
}

function camelName(flag: string): string {
  return flag.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

// Limits of the HTTP server, from its settings.

/** Development mode has no rate limits, unless `isSet` reports that one is configured. */
export function serverLimits(
  { server }: ServerSettings,
  { dev, isSet }: { readonly dev: boolean; readonly isSet: (key: string) => boolean },
): ServerLimits {
  const rate = (requests: number, seconds: number) => (requests === 0 ? false : { requests, seconds })
  const applies = (key: string) => !dev || isSet(key)
  return {
    bodyBytes: server.bodyBytes,
    runs: server.maxRuns,
    streams: server.maxStreams,
    requestMs: server.requestTimeoutMs,
    rate: applies('server.rate_requests') && rate(server.rateRequests, server.rateSeconds),
    failures: applies('server.failed_tokens') && rate(server.failedTokens, server.failedTokenSeconds),
  }
}
