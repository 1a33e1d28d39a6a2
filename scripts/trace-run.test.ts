/** The trace counts what it says: entries of functions, files and hops, on a small program and on a real run. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { root } from './setup.mjs'
import { countEntries, createRecorder } from './trace-run.mjs'

/** Runs counted files one after the other in one scope and returns the trace. */
function trace(files: Record<string, string>) {
  const recorder = createRecorder()
  const text = Object.entries(files)
    .map(([file, source]) => countEntries(source, file, 'enter'))
    .join('\n')
  const program = ts.transpileModule(text, { compilerOptions: { target: ts.ScriptTarget.ES2023 } }).outputText
  recorder.start()
  new Function('enter', program)(recorder.enter)
  return recorder.stop()
}

describe('counting', () => {
  it.each([
    ['a function', 'function f(): void {}; f(); f()', 2],
    ['a function that is not called', 'function f() { return 1 }', 0],
    ['an arrow with an expression', 'const f = (x: number) => x + 1; f(1)', 1],
    ['an arrow that returns an object', 'const f = () => ({ a: 1 }); if (f().a !== 1) throw 0', 1],
    [
      'an arrow that returns an arrow',
      'const f = (a: number) => (b: number) => a + b; if (f(1)(2) !== 3) throw 0',
      2,
    ],
    ['callbacks', '[1, 2, 3].map((n) => n * 2)', 3],
    [
      'methods, accessors and constructors',
      'class A { constructor() {} get x() { return 1 } m() {} }; const a = new A(); a.x; a.m()',
      3,
    ],
    ['a derived constructor', 'class A {}; class B extends A { constructor() { super() } }; new B()', 1],
    ['a generator, once', 'function* g() { yield 1; yield 2 }; [...g()]', 1],
    ['overloads, once', 'function f(a: string): void; function f(a: number): void; function f() {}; f(1)', 1],
  ])('counts %s', (_, source, calls) => {
    expect(trace({ 'a.ts': source }).calls).toBe(calls)
  })

  it('counts a hop where the next entry is in another file', () => {
    const result = trace({
      'a.ts': 'function inner() {}; function a() { inner() }',
      'b.ts': 'const b = () => a()',
      'main.ts': 'b(); b()',
    })
    // b, a, inner, b, a, inner.
    expect(result).toEqual({
      files: 2,
      calls: 6,
      hops: 3,
      top: [
        { file: 'a.ts', calls: 4 },
        { file: 'b.ts', calls: 2 },
      ],
    })
  })

  it('records nothing before the start and forgets an earlier trace', () => {
    const recorder = createRecorder()
    recorder.enter('a.ts')
    recorder.start()
    recorder.enter('b.ts')
    recorder.stop()
    recorder.enter('c.ts')
    recorder.start()
    expect(recorder.stop()).toEqual({ files: 0, calls: 0, hops: 0, top: [] })
  })
})

it('traces one run over HTTP through the server, the planner, the engine and the store', async () => {
  const done = await promisify(execFile)(process.execPath, ['scripts/trace-run.mjs', '--json'], { cwd: root })
  const { files, calls, hops, top } = JSON.parse(done.stdout)
  expect(top).toHaveLength(files)
  expect(calls).toBeGreaterThan(hops)
  for (const folder of ['server', 'plan', 'engine', 'domain', 'adapters/stores']) {
    expect(
      top.some(({ file }: { file: string }) => file.startsWith(`src/${folder}/`)),
      folder,
    ).toBe(true)
  }
})
