/** V-T3: writes the filter that was meant, where only one can be. */
import { closest } from '../../base/closest.ts'
import type { Fixer } from '../rule.ts'
import { templateFilters } from '../template-words.ts'

export const fixT3: Fixer = {
  rule: 'V-T3',
  title: 'corrects the name of the filter',
  fix({ document: { source } }, { span }) {
    const meant = closest(source.text.slice(...span), templateFilters)
    if (meant === undefined) return { cannot: 'no filter has a name like it' }
    return { edits: [{ span, text: meant }] }
  },
}
