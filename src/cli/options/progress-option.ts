/** `--json`, `--quiet` and `--verbose`: how much of a run is shown while it is executed. */
import { type Command, Option } from 'commander'

export interface ProgressFlags {
  readonly json?: boolean
  readonly quiet?: boolean
  readonly verbose?: boolean
}

export function addProgressOptions(command: Command, json: string): Command {
  return command
    .option('--json', json)
    .addOption(new Option('-q, --quiet', 'print only the result, errors and asks').conflicts('verbose'))
    .option('-v, --verbose', 'print the trace of every model call')
}

/** How a run is shown. */
export interface Shown {
  /** Print events as lines on stdout instead of the progress on stderr. */
  readonly json: boolean
  readonly quiet: boolean
  readonly verbose: boolean
}

export function chooseShown({ json = false, quiet = false, verbose = false }: ProgressFlags): Shown {
  return { json, quiet, verbose }
}
