import { type Command, Option } from 'commander';
import { OPEN_RUN_STATUSES, RUN_MODES } from '../../db/schema.ts';
import { parseErrorCode, parseTime, parseVersionNumber } from './parse-argument.ts';

/** Adds the options that say which runs a command is carried out for, where it takes no id. */
export function addBulkOptions(command: Command, how: 'retry' | 'cancel'): Command {
  if (how === 'retry')
    command
      .option('--failed', 'all matching failed runs, each once')
      .addOption(
        new Option('--error-code <code>', 'only runs that failed with this code').argParser(parseErrorCode),
      );
  else
    command
      .option('--all', 'all matching runs that have not ended')
      .addOption(new Option('--status <status>', 'only runs with this status').choices(OPEN_RUN_STATUSES));
  return command
    .option('--flow <path>', 'only runs of org/project/flow')
    .option('--project <path>', 'only runs of org/project')
    .addOption(new Option('--mode <mode>', 'only runs of this mode').choices(RUN_MODES))
    .addOption(new Option('--environment <name>', 'only runs of this environment').choices(['live', 'test']))
    .option('--version <number>', 'only runs of this version', parseVersionNumber)
    .option('--since <time>', 'only runs started at this time or later, e.g. 2030-01-31', parseTime)
    .option('--until <time>', 'only runs started before this time', parseTime)
    .option('--dry-run', 'list matching runs without changing them');
}
