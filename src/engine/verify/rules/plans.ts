/** A plan answers the request that is open. */
import type { Rule } from './rule.ts'

/** A draft is refused, or becomes the next plan, for the request that is open; each request is answered once. */
export function plansAnswerTheirRequest(): Rule {
  let open: number | undefined
  let version = 0
  let over = false
  return (event, _before, report) => {
    if (event.type === 'plan_requested') {
      open = event.payload.attempt
      if (over && open > 1) report('plan', `draft ${open} is requested although planning had ended`)
      over = false
    }
    if (event.type === 'plan_rejected') {
      over = event.payload.final !== undefined
      if (open !== event.payload.attempt)
        report('plan', `draft ${event.payload.attempt} is refused, and ${open ?? 'none'} was asked for`)
      open = undefined
    }
    if (event.type !== 'plan_generated' || event.payload.metadata.resumed) return
    if (open === undefined) report('plan', 'a plan was recorded without a request')
    if (event.payload.planVersion !== version + 1)
      report('plan', `plan ${event.payload.planVersion} comes after plan ${version}`)
    open = undefined
    version = event.payload.planVersion
  }
}
