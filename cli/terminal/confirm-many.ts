import { createInterface } from 'node:readline';
import { ServiceError } from '../../flow/errors.ts';
import { UsageError } from './usage-error.ts';

/** Commands change up to this many runs without a question. */
export const FEW = 10;

/** Asks on the terminal before more than FEW runs are changed. Throws unless the answer, or `--yes`, says so. */
export async function confirmMany(count: number, how: 'retry' | 'cancel', yes = false): Promise<void> {
  if (yes || count <= FEW) return;
  if (!process.stdin.isTTY)
    throw new UsageError(
      `Nothing was done: these are ${count} runs. Add --yes to ${how} more than ${FEW}; --dry-run says which they are.`,
    );
  const answer = await ask(`These are ${count} runs. Type yes to ${how} them: `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new ServiceError('CONFLICT', 'Nothing was done.');
}

/** Reads one line; an empty one where the input ends. */
async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr, prompt: question });
  terminal.prompt();
  try {
    for await (const line of terminal) return line;
    return '';
  } finally {
    terminal.close();
  }
}
