// Runs one `weir` command in this process.
import { CommanderError } from 'commander';
import { COMMAND_NAMES, createProgram } from './program.ts';
import { note, printForScripts, printLine, printsForScripts } from './terminal/print.ts';

/** Only the scripts of `weir completion` call it. */
const COMPLETE = '__complete';
const USAGE_ERROR = 2;
const USAGE_CODE = 'USAGE_ERROR';

/**
 * Runs the command that `args` name. Sets `process.exitCode`: 2 when it was called wrongly, 1 when it failed. With `--json`, a
 * failure is one line of JSON on stderr, as an error of the HTTP API: `{"detail": {"code", "message", …}}`.
 */
export async function runCommand(args: string[]): Promise<void> {
  if (args[0] === COMPLETE) return printCandidates(args.slice(1));
  const end = args.indexOf('--');
  printForScripts(args.slice(0, end < 0 ? args.length : end).includes('--json'));
  try {
    await (await createProgram(args[0])).parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
      // Commander has printed the error as text, or the help.
      if (error.exitCode !== 0 && printsForScripts())
        printDetail({ code: USAGE_CODE, message: textOf(error) });
      return;
    }
    const { describeError, toDetail } = await import('./terminal/describe-error.ts');
    const { UsageError } = await import('./terminal/parse-argument.ts');
    const isUsage = error instanceof UsageError;
    process.exitCode = isUsage ? USAGE_ERROR : 1;
    if (!printsForScripts()) note(describeError(error));
    else printDetail(isUsage ? { code: USAGE_CODE, message: error.message } : toDetail(error));
  }
}

async function printCandidates(words: string[]): Promise<void> {
  const { complete } = await import('./terminal/complete.ts');
  for (const candidate of await complete(words, COMMAND_NAMES, createProgram)) printLine(candidate);
}

function printDetail(detail: { code: string; message: string }): void {
  printLine(JSON.stringify({ detail }), process.stderr);
}

function textOf({ code, message }: CommanderError): string {
  return code === 'commander.help'
    ? 'A command is missing after this one: --help lists them.'
    : message.replace(/^error: /, '');
}
