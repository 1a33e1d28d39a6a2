/**
 * What has to be undone after tests. Modules that are shared between test files are evaluated once per worker, so a hook of
 * vitest at their top would belong to the first file only: they register here, and `setup.ts` runs it for every file.
 */
type Cleanup = () => unknown

const cleanups = { test: [] as Cleanup[], file: [] as Cleanup[] }

/** Registers what is undone after each test, of any file. */
export function afterEachTest(cleanup: Cleanup): void {
  cleanups.test.push(cleanup)
}

/** Registers what is undone after the last test of each file. */
export function afterEachFile(cleanup: Cleanup): void {
  cleanups.file.push(cleanup)
}

/** Runs all of them, the latest first, and throws the first error at the end. */
export async function cleanUp(after: keyof typeof cleanups): Promise<void> {
  const errors: unknown[] = []
  for (const cleanup of cleanups[after].toReversed())
    try {
      await cleanup()
    } catch (error) {
      errors.push(error)
    }
  if (errors.length > 0) throw errors[0]
}
