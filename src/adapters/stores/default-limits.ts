/** How many rows a query gives when the caller does not say. */
export const defaultLimits = { events: 1_000, runs: 100, asks: 100, messages: 200 } as const
