// Commands for many runs: the question before them and the report after.
import { createInterface } from 'node:readline';
import { ServiceError } from '../../flow/errors.ts';
import { UsageError } from './parse-argument.ts';

/** Commands change up to this many runs without a question. */
export const FEW = 10;

/** The outcome of a command for many runs. */
export type Counts = {
  done: { executionId: string; repeats?: string }[];
  /** In a dry run: the ids of matching runs. */
  matching: string[];
  refused: { executionId: string; code: string; errorMessage: string }[];
  stoppedBy: string | null;
  /** The bulk retries that began, and the path of the project of each. */
  bulkRetries: { bulk_id: string; project: string }[];
};

const DONE = {
  retry: (count: string) => `${count} retried`,
  cancel: (count: string) => `${count} being cancelled`,
};
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g;

/** Describes in a sentence how many runs were changed (in a dry run: would be) and not retried, and why the command stopped. */
export function describeCounts(how: keyof typeof DONE, counts: Counts, dryRun = false): string {
  const { done, matching, refused, stoppedBy } = counts;
  const passed = how === 'retry' ? `, ${refused.length} not retried` : '';
  if (dryRun)
    return `${countRuns(matching.length)} would be ${how === 'retry' ? 'retried' : 'cancelled'}${passed}.`;
  const stopped = stoppedBy
    ? ` Stopped by ${stoppedBy}: put that right and repeat the command, which does nothing twice.`
    : '';
  return `${DONE[how](countRuns(done.length))}${passed}.${stopped}`;
}

/** Lists the reasons why runs were not retried, the most frequent first. */
export function countReasons(refused: Counts['refused']): string[] {
  const reasons = new Map<string, number>();
  for (const { errorMessage } of refused) {
    const reason = errorMessage.replaceAll(ID, '…');
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return [...reasons].sort((a, b) => b[1] - a[1]).map(([reason, count]) => `  ${count} × ${reason}`);
}

export function countRuns(count: number): string {
  return `${count} ${count === 1 ? 'run' : 'runs'}`;
}

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
