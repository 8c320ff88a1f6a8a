// `weir runs errors`: the failed runs of a project or flow, grouped by what went wrong.
import type { RunErrorGroup } from '../../api/runs/list-run-errors.ts';
import { callApi } from '../api/call-api.ts';
import { projectPath } from '../api/get-resource.ts';
import { splitScope, UsageError } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime } from '../terminal/print.ts';
import { type FilterOptions, requireFlow } from './list-runs.ts';

type ErrorOptions = Omit<FilterOptions, 'status'> & { outcome?: string; limit: number };

const ERROR_MAX_CHARS = 100;

/** Lists groups of the failed runs of a project or flow, with the options that list or retry the runs of a group. */
export async function listErrors(path: string, options: ErrorOptions): Promise<CommandResult> {
  const { outcome, mode, environment, version, key, since, until, limit } = options;
  const { organization, project, flow } = splitScope(path);
  if (project === undefined) throw new UsageError('Name a project, such as acme/main, or a flow in it.');
  const query = { flow, outcome, mode, environment, version, key, since, until, limit };
  const url = await projectPath(`${organization}/${project}`, 'runs/errors');
  const { errors } = await callApi<{ errors: RunErrorGroup[] }>('GET', url, { query });
  if (errors.length === 0) await requireFlow(path);
  const rows = errors.map(
    ({ error_group, count, firstSeen, lastSeen, flow, code, step_id, errorMessage }) => [
      error_group,
      count,
      formatTime(firstSeen),
      formatTime(lastSeen),
      flow,
      step_id,
      code,
      errorMessage.slice(0, ERROR_MAX_CHARS),
    ],
  );
  return {
    json: errors,
    text: [
      formatTable(
        ['group', 'runs', 'first seen', 'last seen', 'flow', 'step', 'code', 'newest error'],
        rows,
        'No run has failed.',
      ),
      ...(errors[0]
        ? [
            '',
            `Retry a group: weir runs retry --failed --project ${organization}/${project} --error-group ${errors[0].error_group}`,
          ]
        : []),
    ].join('\n'),
  };
}
