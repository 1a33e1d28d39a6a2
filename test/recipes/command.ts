import { expect } from 'vitest'
import type { Recipe } from './scratch.ts'

/** `proviso greet NAME`. */
export const command: Recipe = {
  title: 'Add a command',
  apply({ create, insertAfter }) {
    create(
      'src/cli/commands/greet.ts',
      `/** \`proviso greet\`: prints a greeting. */
import type { Command } from 'commander'
import { printText } from '../print.ts'

export function addGreetCommand(program: Command): void {
  program
    .command('greet')
    .description('print a greeting')
    .argument('<name>', 'name to greet')
    .action((name: string) => printText(\`Hello \${name}\`))
}
`,
    )
    insertAfter(
      'src/cli/main.ts',
      'const commands: Readonly<Record<string, () => Promise<AddCommand>>> = {\n',
      "  greet: async () => (await import('./commands/greet.ts')).addGreetCommand,\n",
    )
  },
  entries: ['src/cli/main.ts'],
  async check({ run }) {
    expect(await run('src/cli/main.ts', 'greet', 'Ada')).toBe('Hello Ada\n')
    expect(await run('src/cli/main.ts', '--help')).toMatch(/greet \[options\] <name> +print a greeting/)
  },
}
