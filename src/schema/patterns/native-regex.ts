/** JSON Schema asks for the `u` flag; patterns in the wild such as `[\w-.]` only compile without it. */
export function compileNative(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags)
  } catch {
    return new RegExp(pattern)
  }
}
