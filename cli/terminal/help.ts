import type { Command } from 'commander';

/** Adds `weir help`, which takes the whole name of a command: `weir help flow import`. */
export function addHelpCommand(program: Command): void {
  program
    .helpCommand(false)
    .command('help')
    .description('show how a command is used')
    .argument('[command...]', 'name of the command, such as flow import')
    .action(async (names: string[]) => (await getCommand(program, names)).outputHelp());
}

/** Gets a command by its full name. For an unknown name, prints the same error as running it. */
async function getCommand(program: Command, names: string[]): Promise<Command> {
  let command = program;
  for (const [index, name] of names.entries()) {
    const child = command.commands.find((one) => one.name() === name || one.aliases().includes(name));
    if (!child && command.commands.length > 0) await command.parseAsync([name], { from: 'user' });
    if (!child) {
      const { UsageError } = await import('./parse-argument.ts');
      throw new UsageError(`Unknown command: weir ${names.slice(0, index + 1).join(' ')}.`);
    }
    command = child;
  }
  return command;
}
