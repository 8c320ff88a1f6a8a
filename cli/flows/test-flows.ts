// `weir test`: runs the test cases of drafts and shows the results.
import type { Command } from 'commander';
import { ServiceError } from '../../flow/errors.ts';
import { Unreachable } from '../api/to-error.ts';
import { describeError } from '../terminal/describe-error.ts';
import { formatTable } from '../terminal/format-table.ts';
import { type CommandResult, printed } from '../terminal/print-result.ts';
import { writeText } from '../terminal/write-text.ts';
import { describeChanges } from './describe-changes.ts';
import { addFlowArguments, getFlows, type NamedFlow, requireExisting } from './flow-arguments.ts';
import { formatJUnit } from './format-junit.ts';
import { planPush } from './push-plan.ts';
import { nameUnfinished } from './require-finished.ts';
import { runTests, type TestedFlow } from './run-tests.ts';

export function addTestCommand(program: Command): void {
  const command = program
    .command('test')
    .description(
      'run the test cases of drafts and show the results; exit with 1 if a case fails or there is none',
    );
  addFlowArguments(command, 'paths of flows; or flow files and folders, whose drafts must equal the files')
    .option('--junit <file>', 'write the results into a file, as JUnit XML')
    .addHelpText('after', '\nExample:\n  weir test flows/ --project acme/main --junit results.xml')
    .action(printed(testFlows));
}

async function testFlows(
  names: string[],
  { project, junit }: { project?: string; junit?: string },
): Promise<CommandResult> {
  const flows = (await getFlows(names, project)).map(requireExisting);
  for (const named of flows) await requirePushed(named);
  // A file that cannot be written is said before the tests are run and charged.
  if (junit !== undefined) await writeText(junit, formatJUnit([]));
  const tested: TestedFlow[] = [];
  // A flow whose tests cannot be run keeps none of the others' results from being shown.
  const errors: unknown[] = [];
  for (const named of flows)
    try {
      const testRun = await runTests(named.flow).catch(nameUnfinished(named));
      tested.push({ flow: named.path, testRun });
    } catch (error) {
      errors.push(error);
      // A service that is away is not asked about the others.
      const untested = error instanceof Unreachable ? flows.slice(tested.length) : [named];
      for (const { path } of untested)
        tested.push({ flow: path, testRun: null, error: describeError(error) });
      if (error instanceof Unreachable) break;
    }
  if (junit !== undefined) await writeText(junit, formatJUnit(tested));
  if (flows.length === 1 && errors.length === 1) throw errors[0];
  const isEmpty = tested.every(({ testRun }) => !testRun);
  const isFailed =
    errors.length > 0 || tested.some(({ testRun }) => testRun && testRun.passed < testRun.total);
  if (isEmpty || isFailed) process.exitCode = 1;
  return { json: tested, text: `${tableOf(tested)}\n${summaryOf(tested)}` };
}

/** Throws CONFLICT when a draft, or its test cases, are not as the file says. */
async function requirePushed(named: NamedFlow): Promise<void> {
  const { path, local } = named;
  if (!local) return;
  const { changes, testChanges } = await planPush({ ...named, local });
  if (changes.length + testChanges.length === 0) return;
  throw new ServiceError(
    'CONFLICT',
    `${path} is not as ${local.file} says, so nothing was tested. Push the file first; it would change:\n${describeChanges([...changes, ...testChanges])}`,
  );
}

function tableOf(tested: TestedFlow[]): string {
  const rows = tested.flatMap(({ flow, testRun, error }) =>
    error === undefined
      ? (testRun?.results ?? []).map(({ name, status, ms, cost, why }) => [
          flow,
          name,
          status,
          ms,
          cost,
          why ?? '',
        ])
      : [[flow, null, 'error', null, null, error]],
  );
  return formatTable(
    ['flow', 'test case', 'result', 'ms', 'credits', 'why'],
    rows,
    'Nothing was tested: there are no test cases.',
  );
}

function summaryOf(tested: TestedFlow[]): string {
  const runs = tested.flatMap(({ testRun }) => testRun ?? []);
  const total = runs.reduce((sum, run) => sum + run.total, 0);
  const passed = runs.reduce((sum, run) => sum + run.passed, 0);
  const without = tested
    .filter(({ testRun, error }) => !testRun && error === undefined)
    .map(({ flow }) => flow);
  const untested = tested.filter(({ error }) => error !== undefined).map(({ flow }) => flow);
  return [
    ...(runs.length > 0 ? [`${passed} of ${total} test cases passed.`] : []),
    ...(without.length > 0 ? [`Without test cases: ${without.join(', ')}.`] : []),
    ...(untested.length > 0 ? [`Not tested: ${untested.join(', ')}.`] : []),
  ].join('\n');
}
