/** From which counts on something is worth a recommendation. */
export const thresholds = {
  /** Coercions in all, while nobody asked for structured output. */
  total: 10,
  /** Events of one stage, skips of one model, failed prechecks or rungs of one step. */
  stage: 5,
  /** Coercions of the worst step or model … */
  worst: 5,
  /** … and of its heaviest stage. */
  worstStage: 3,
  /** More in the second half of the time than in the first. */
  rising: 2,
  /** More in the last bucket than in the first. */
  drift: 3,
} as const
