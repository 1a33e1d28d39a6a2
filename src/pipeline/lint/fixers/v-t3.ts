/** V-T3: replaces the filter by the known filter with the closest name, if there is one. */
import { closest } from '../../../base/closest.ts'
import { templateFilters } from '../../templates/filters.ts'
import type { Fixer } from '../rule.ts'

export const fixT3: Fixer = {
  rule: 'V-T3',
  title: 'corrects the name of the filter',
  fix({ document: { source } }, { span }) {
    const meant = closest(source.text.slice(...span), templateFilters)
    if (meant === undefined) return { cannot: 'no filter has a name like it' }
    return { edits: [{ span, text: meant }] }
  },
}
