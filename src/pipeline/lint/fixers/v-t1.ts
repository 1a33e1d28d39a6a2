/** V-T1: removes `.output`. */
import type { Fixer } from '../rule.ts'

export const fixT1: Fixer = {
  rule: 'V-T1',
  title: 'writes previous_step without .output',
  fix({ document: { source } }, { span }) {
    const [root, said] = ['previous_step', '.output']
    if (!source.text.slice(...span).startsWith(root + said))
      return { cannot: 'it is written in an unusual way' }
    const start = span[0] + root.length
    return { edits: [{ span: [start, start + said.length], text: '' }] }
  },
}
