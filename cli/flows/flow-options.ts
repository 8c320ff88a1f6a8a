import { type Command, Option } from 'commander';
import { parsePath } from '../terminal/parse-argument.ts';

export function projectOption(): Option {
  return new Option('--project <org/project>', 'project of the flows in files')
    .env('WEIR_PROJECT')
    .argParser(parsePath('org/project'));
}

/** Adds the arguments `[flows...]`, which `getFlows` takes. */
export function addFlowArguments(command: Command, description: string): Command {
  return command.argument('<flow...>', description).addOption(projectOption());
}
