// @ts-check
/** `npm run direction`: prints every import that violates the import direction; exit code 1 if there is one. */
import { checkDirection } from './direction-check.mjs'
import { rules } from './direction-rules.mjs'
import { root } from './setup.mjs'

const { violations, files, imports } = checkDirection(root, rules)
for (const { rule, file, line, message } of violations) {
  console.error(`${file}:${line}  direction/${rule}  ${message}`)
}
console.log(
  violations.length === 0
    ? `direction: ${imports} imports in ${files} files go down`
    : `direction: ${violations.length} of ${imports} imports in ${files} files are wrong`,
)
process.exit(violations.length === 0 ? 0 : 1)
