// `weir flow diff`: what a file would change, or what changed from one version to another.
import { ServiceError } from '../../flow/errors.ts';
import { UsageError } from '../terminal/parse-argument.ts';
import type { CommandResult } from '../terminal/print.ts';
import { getFlows, type NamedFlow } from './flow-arguments.ts';
import { describeChanges, findFlowChanges } from './flow-content.ts';
import { planPush } from './push-plan.ts';
import { readSide } from './service-flow.ts';

export type Side = number | 'draft';

type CompareOptions = { project?: string; from?: Side; to?: Side };

/** Compares the draft of each flow with its file, or for a path two versions of the flow. */
export async function compare(names: string[], options: CompareOptions): Promise<CommandResult> {
  const results = [];
  for (const named of await getFlows(names, options.project, '--from'))
    results.push(await compareOne(named, options));
  const text = results.map(({ path, from, to, changes }) =>
    changes.length === 0
      ? `${path}: no difference from ${from} to ${to}.`
      : `${path}, from ${from} to ${to}:\n${describeChanges(changes)}`,
  );
  return { json: results.map(({ path, ...result }) => ({ flow: path, ...result })), text: text.join('\n') };
}

async function compareOne({ path, flow, local }: NamedFlow, options: CompareOptions) {
  if (local) {
    if (options.from !== undefined || options.to !== undefined)
      throw new UsageError('--from and --to compare versions of a flow: give its path, org/project/flow.');
    const { changes, testChanges } = await planPush({ path, local, ...(flow && { flow }) });
    return { path, from: 'draft', to: local.file, changes: [...changes, ...testChanges] };
  }
  if (!flow) throw new ServiceError('NOT_FOUND', `There is no flow ${path}.`);
  const from = options.from ?? flow.productionVersion;
  const to = options.to ?? 'draft';
  if (from === null)
    throw new UsageError(`${path} has no production version: say with --from what to compare with.`);
  const changes = findFlowChanges(await readSide(flow, from), await readSide(flow, to));
  return { path, from: nameOf(from), to: nameOf(to), changes };
}

function nameOf(side: Side): string {
  return side === 'draft' ? 'draft' : `version ${side}`;
}
