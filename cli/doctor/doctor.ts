// `weir doctor`: looks at everything that the service depends on, as it is configured here, and says how to mend what is wrong.
import type { Command } from 'commander';
import { type CommandResult, printed } from '../terminal/print-result.ts';
import { formatFindings } from './format-findings.ts';

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('look at what the service needs, and say what is wrong and how to mend it')
    .addHelpText(
      'after',
      '\nIt reads the variables of the service, else the state of a local npm start, and\n' +
        'changes nothing. It exits with 1 when a line begins with ✗.\n\nExample:\n  weir doctor --json',
    )
    .action(async (options: object, command: Command) => {
      await printed((_: object) => report())(options, command);
      // What hangs, such as a connection to a frozen server, must not keep the command from ending.
      process.stdout.write('', () => process.exit());
    });
}

async function report(): Promise<CommandResult> {
  const { examine } = await import('./examine.ts');
  const findings = await examine();
  const ok = findings.every(({ state }) => state !== 'error');
  process.exitCode = ok ? 0 : 1;
  return { json: { ok, findings }, text: formatFindings(findings) };
}
