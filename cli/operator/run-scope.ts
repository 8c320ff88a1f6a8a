// Which runs an operator's command is carried out for, where it takes no ids.
import type { Command } from 'commander';
import type { Db } from '../../db/connect.ts';
import { FEW } from '../terminal/bulk-runs.ts';
import { parseTime, splitScope, UsageError } from '../terminal/parse-argument.ts';
import { getFlow, getOrganization, getProject } from './on-database.ts';

/** The options that every such command has; of its own it has more. */
export type ScopeOptions = {
  organization?: string;
  flow?: string;
  all?: boolean;
  since?: Date;
  until?: Date;
  dryRun?: boolean;
  yes?: boolean;
  /** Commander's. */
  json?: boolean;
};

/** Adds the options that say which runs; `which` is such as `failed runs`. */
export function addScopeOptions(command: Command, which: string): Command {
  return command
    .option('--organization <path>', `all ${which} of org, org/project or org/project/flow`)
    .option('--flow <path>', `all ${which} of org/project/flow`)
    .option('--all', `all ${which} of the service`)
    .option('--since <time>', 'only runs started at this time or later, e.g. 2030-01-31', parseTime)
    .option('--until <time>', 'only runs started before this time', parseTime)
    .option('--dry-run', 'list matching runs without changing them')
    .option('--yes', `do not ask for confirmation of more than ${FEW} runs`);
}

/**
 * Reads which runs the options find, and `how` to go about it; `filter` is undefined where ids were given. Throws UsageError where
 * neither or both were given, and NOT_FOUND.
 */
export async function getScope<Options extends ScopeOptions>(db: Db, ids: string[], options: Options) {
  const { organization, flow, all, dryRun, yes, json: _, ...others } = options;
  const how = { dryRun, yes };
  const scopes = [organization !== undefined, flow !== undefined, all === true].filter(Boolean).length;
  if (ids.length > 0) {
    if (scopes > 0 || Object.keys(others).length > 0)
      throw new UsageError('Give ids of runs, or options that find them, not both.');
    return { how };
  }
  if (scopes !== 1) throw new UsageError('Give ids of runs, --organization or --flow with a path, or --all.');
  if (flow !== undefined) await getFlow(db, flow);
  if (organization !== undefined) await requirePath(db, organization);
  return { filter: { ...splitScope(organization ?? flow), ...others }, how };
}

/** Throws NOT_FOUND unless the organization, project or flow is there. */
export async function requirePath(db: Db, path: string): Promise<void> {
  const { project, flow } = splitScope(path);
  if (flow !== undefined) await getFlow(db, path);
  else if (project !== undefined) await getProject(db, path);
  else await getOrganization(db, path);
}
