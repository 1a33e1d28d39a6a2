/**
 * Serves the files of the web console: the built page, its scripts and styles, under a strict Content-Security-Policy. The
 * console is a client of the API like any other and needs no rights of its own, so its files are public.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ProvisoError } from '../../base/errors/error.ts'

export interface ConsoleOptions {
  /** Folder of the built console, with its `index.html`. */
  readonly folder: string
  /** Offers the dialog that builds an envelope from a short brief (FLEX-110). Default: no. */
  readonly createPost?: boolean
}

interface ConsoleFile {
  /** 404 with the page: the console has no such address; the page says so and leads back. */
  readonly status: 200 | 304 | 404
  readonly headers: { readonly [name: string]: string }
  /** Absent if the browser has the current version: the reply is 304, with the same headers. */
  readonly body?: Buffer
}

interface ConsoleRequest {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
}

/** Returns the file for a path, or the page for an address of the console or for a lost visitor; `undefined` for everything else. */
export type FindConsoleFile = (request: ConsoleRequest) => ConsoleFile | undefined

/** No inline script or style, no other origin, no frames. Model text can bring none of them in. */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const contentTypes: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
}

/** First segments of the addresses of the console's pages. */
const pages: ReadonlySet<string> = new Set([
  '',
  'runs',
  'inbox',
  'sign-in',
  'compose',
  'threads',
  'capabilities',
  'health',
])

/** Address of the sandbox page, which exists only with its flag (FLEX-104). */
const sandboxPage = '/flex/sandbox'

interface LoadedFile {
  readonly bytes: Buffer
  readonly gzip: Buffer | undefined
  readonly etag: string
  readonly headers: { readonly [name: string]: string }
}

export function loadConsole(
  { folder }: ConsoleOptions,
  { hasSandbox }: { readonly hasSandbox: boolean },
): FindConsoleFile {
  const files = readFiles(folder)
  const index = files.get('/index.html')
  if (index === undefined)
    throw new ProvisoError('option/invalid', `The folder of the console must have an index.html: ${folder}`, {
      hint: 'Build the console with `npm run build`',
    })
  const isPage = (path: string) => (path === sandboxPage ? hasSandbox : pages.has(path.split('/')[1] ?? ''))
  return ({ method, path, headers }) => {
    if (method !== 'GET' && method !== 'HEAD') return undefined
    const known = files.get(path) ?? (isPage(path) ? index : undefined)
    const file = known ?? (isVisit(path, headers['accept']) ? index : undefined)
    if (file === undefined) return undefined
    const always = { ...file.headers, etag: file.etag }
    if (known && headers['if-none-match'] === file.etag) return { status: 304, headers: always }
    const acceptsGzip = String(headers['accept-encoding'] ?? '').includes('gzip')
    const encoded = acceptsGzip && file.gzip !== undefined
    return {
      status: known ? 200 : 404,
      headers: { ...always, ...(encoded && { 'content-encoding': 'gzip' }) },
      body: encoded && file.gzip ? file.gzip : file.bytes,
    }
  }
}

/** Whether a person has typed or followed the address: programs and parts of pages ask for other types. */
function isVisit(path: string, accept: string | string[] | undefined): boolean {
  return String(accept ?? '').includes('text/html') && !/^\/(?:api|assets)\/|\.\w+$/.test(path)
}

/** Reads all files once: there are few, and a server must not read paths that a request names. */
function readFiles(folder: string): ReadonlyMap<string, LoadedFile> {
  const names = listFiles(folder)
  return new Map(names.map((name) => [`/${name}`, loadFile(join(folder, name), name)]))
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).replaceAll('\\', '/'))
      .map((name) => name.replace(/^\/+/, ''))
  } catch {
    return []
  }
}

function loadFile(path: string, name: string): LoadedFile {
  const bytes = readFileSync(path)
  const type = contentTypes[extname(name)] ?? 'application/octet-stream'
  const gzip = type.startsWith('image/png') ? undefined : gzipSync(bytes)
  return {
    bytes,
    gzip,
    etag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"`,
    headers: {
      'content-type': type,
      // Names of assets contain the hash of their content.
      'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      'content-security-policy': contentPolicy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      vary: 'accept-encoding',
    },
  }
}
