/** Which formats are checked. Unknown ones are ignored in trusted schemas, as JSON Schema allows, and refused in others. */
import { fullFormats } from 'ajv-formats/dist/formats.js'

/** Every format that is checked. */
export const formats = fullFormats

/** Formats whose check is linear in the text; `url` takes seconds on a crafted one. */
export const safeFormats: ReadonlySet<string> = new Set(
  Object.keys(fullFormats).filter((name) => name !== 'url'),
)
