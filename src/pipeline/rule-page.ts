/** The page of a rule, for `--explain` and `docs/rules`. */
import { fixerTable } from './fixer-table.ts'
import type { Rule } from './rule.ts'

export function rulePage({ id, title, severity, help, good, bad }: Rule): string {
  const fixer = fixerTable.find(({ rule }) => rule === id)
  return `# ${id}: ${title}

Severity: ${severity}. ${fixer ? `\`proviso validate --fix\` ${fixer.title}.` : 'It has no automatic fix.'}

${help}

## Wrong

\`\`\`yaml
${bad}\`\`\`

## Right

\`\`\`yaml
${good}\`\`\`

To switch it off for one step, write \`# proviso: ignore ${id}\` at it, or \`meta: { suppress_rules: [${id}] }\` into it.
`
}
