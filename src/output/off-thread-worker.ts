/** The thread in which texts of strangers are read against schemas of strangers: it can be ended at any moment. */
import { parentPort } from 'node:worker_threads'
import { ProvisoError } from '../base/error.ts'
import { compileSchema } from '../schema/compile.ts'
import { schemaHash } from '../schema/hash.ts'
import type { Answer, Request } from './off-thread-messages.ts'
import { parse } from './parse.ts'
import type { ParseResult } from './types.ts'

parentPort?.on('message', (request: Request) => say(answer(request)))
// The first compilation pays for the meta-schema; it is paid before the first deadline runs.
compileSchema({ type: 'object' }, { untrusted: true })
say({ kind: 'ready' })

function say(message: Answer): void {
  parentPort?.postMessage(message)
}

function answer(request: Request): Answer {
  try {
    if (request.kind === 'parse') {
      return { kind: 'parsed', result: plain(parse(request.text, request.schema, request.options)) }
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

/** Repairs are made up when they are read; only data crosses between threads. The text is known on the other side. */
function plain(result: ParseResult): ParseResult {
  const shadow = result.shadow && { shadow: plain(result.shadow) }
  return { ...result, ...shadow, repairs: Array.from(result.repairs), raw: '' }
}
