/** The bench of agents with tools: what a durable tool call costs, and what a kill between a call and its record does. */
import { runBench } from './lib/bench.mjs'
import { killed, showKilled } from './sections/killed-agents.mjs'
import { showToolCalls, toolCalls } from './sections/tool-calls.mjs'

await runBench('agents', [
  ['calls', toolCalls, showToolCalls],
  ['killed', killed, showKilled],
])
