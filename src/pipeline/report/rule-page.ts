/** Renders the page of a rule, for `--explain` and `docs/rules`. */
import type { Rule } from '../lint/rule.ts'

export function rulePage({ id, title, severity, help, good, bad, fixer }: Rule): string {
  return `# ${id}: ${title}

Severity: ${severity}. ${fixer ? `\`proviso validate --fix\` ${fixer.title}.` : 'It has no automatic fix.'}

${help}

## Wrong

\`\`\`yaml
${shortened(bad)}\`\`\`

## Right

\`\`\`yaml
${shortened(good)}\`\`\`

To switch it off for one step, write \`# proviso: ignore ${id}\` at it, or \`meta: { suppress_rules: [${id}] }\` into it; the comment also works at an agent or an import, and \`meta\` of the file is for all of it.
`
}

/** Shortens long lines of an example: some rules need long examples, but a page needs only their beginning. */
function shortened(example: string): string {
  return example.replaceAll(/^(.{110}).{90,}$/gm, '$1…')
}
