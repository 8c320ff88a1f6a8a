// `weir doctor`: checks each dependency of the service under this configuration, and describes how to fix problems.
import { type Command, Help } from 'commander';
import { type CommandResult, printed } from '../terminal/print.ts';
import type { Finding } from './finding.ts';

const SIGNS = { ok: '✓', warning: '!', error: '✗' };
const COLUMNS = 80;

const INDENT = 17;

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check the dependencies of the service, and show how to fix problems')
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

/** Formats what was found, within 80 columns: a sign, the part, what was found, and below it how to mend it. */
function formatFindings(findings: Finding[]): string {
  const lines = findings.flatMap(({ check, state, message, mend }) => [
    ...indent(message, `${SIGNS[state]} ${check.padEnd(INDENT - 4)}  `),
    ...(mend === undefined ? [] : indent(`→ ${mend}`)),
  ]);
  const count = (which: Finding['state']) => findings.filter(({ state }) => state === which).length;
  const errors = count('error');
  const warnings = count('warning');
  const end =
    errors + warnings === 0
      ? 'Nothing is wrong.'
      : `${plural(errors, 'error')} (✗), ${plural(warnings, 'warning')} (!).`;
  return [...lines, '', end].join('\n');
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Breaks text between words; its own line feeds stay. */
function indent(text: string, first = ' '.repeat(INDENT)): string[] {
  const lines = new Help().boxWrap(text, COLUMNS - INDENT).split('\n');
  return lines.map((line, index) => (index === 0 ? first : ' '.repeat(INDENT)) + line);
}
