/** Writes structured log lines for the lifecycle of runs: JSON by pino, one per named event (FLEX-70), redacted. */
import { type DestinationStream, type Logger, pino } from 'pino'
import type { LifecycleNotice } from '../../domain/event/lifecycle.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { logLine, verboseLine } from './log-lines.ts'

export interface LogOptions {
  readonly redactor: Redactor
  /** Destination of log lines. Default: standard output. */
  readonly destination?: DestinationStream
  /** Default `info`. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** `aros.telemetry.verbose`: also logs the trace events of model calls. Default false. */
  readonly verbose?: boolean
}

export interface Log {
  readonly onNotice: (notice: LifecycleNotice) => void
  /** For all other log lines of the server. */
  readonly logger: Logger
}

export function createLog({ redactor, destination, level = 'info', verbose = false }: LogOptions): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redactor.value(fields) as { [key: string]: unknown },
      },
    },
    destination ?? pino.destination(1),
  )
  return {
    logger,
    onNotice(notice) {
      if (notice.kind === 'left') {
        if (notice.why === 'crashed') logger.error({ runId: notice.runId }, 'flex_run_crashed')
        return
      }
      const { runId, correlationId } = notice
      for (const event of notice.events) {
        const line = logLine(event, notice) ?? (verbose ? verboseLine(event) : undefined)
        if (!line) continue
        const { nodeId, planVersion, seq } = event
        logger[line.level]({ runId, correlationId, planVersion, seq, nodeId, ...line.fields }, line.name)
      }
    },
  }
}
