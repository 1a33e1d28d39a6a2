/** Worker thread that parses untrusted text against untrusted schemas. The pool can terminate it at any time. */
import { parentPort } from 'node:worker_threads'
import { ProvisoError } from '../../base/errors/error.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import { schemaHash } from '../../schema/hash.ts'
import { parse } from '../parse.ts'
import type { ParseResult, ReaderEvent } from '../types.ts'
import type { Answer, Request } from './off-thread-messages.ts'

parentPort?.on('message', (request: Request) => say(answer(request)))
// Warm-up: the first compilation loads the meta-schema, so do it before the first deadline starts.
compileSchema({ type: 'object' }, { untrusted: true })
say({ kind: 'ready' })

function say(message: Answer): void {
  parentPort?.postMessage(message)
}

function answer(request: Request): Answer {
  try {
    if (request.kind === 'parse') {
      const events: ReaderEvent[] = []
      const onEvent = (event: ReaderEvent) => void events.push(event)
      const options = request.events ? { ...request.options, onEvent } : request.options
      return { kind: 'parsed', result: plain(parse(request.text, request.schema, options)), events }
    }
    compileSchema(request.schema, { untrusted: request.untrusted })
    return { kind: 'compiled', hash: schemaHash(request.schema) }
  } catch (error) {
    if (!(error instanceof ProvisoError)) return { kind: 'failed', message: String(error) }
    const { code, message, hint, at } = error
    return {
      kind: 'refused',
      error: { code, message, ...(hint !== undefined && { hint }), ...(at && { at }) },
    }
  }
}

/** Reads the lazy repairs, because only data can be sent between threads. Omits the text: the other side has it. */
function plain(result: ParseResult): ParseResult {
  const shadow = result.shadow && { shadow: plain(result.shadow) }
  return { ...result, ...shadow, repairs: Array.from(result.repairs), raw: '' }
}
