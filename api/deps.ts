import type { Client } from '@temporalio/client';
import type { InProcessRuns } from '../db/runs/in-process-runs.ts';
import type { RequestKeys } from '../db/tenants/request-keys.ts';
import type { Validator } from '../json-schema/validator.ts';
import type { LiveRegistry } from '../models/live-registry.ts';
import type { ResolvePublic } from '../net/resolve-public.ts';
import type { AuthDeps } from './auth/deps.ts';

/** What the endpoints work with; `createApp` takes it once. */
export type ApiDeps = AuthDeps & {
  client: Client;
  requestKeys: RequestKeys;
  validator: Validator;
  registry: LiveRegistry;
  resolvePublic: ResolvePublic;
  /** Where a worker runs in this process. */
  inProcessRuns?: InProcessRuns;
  /** Aborted when the process stops taking requests: answers that others can go on with end. */
  stopping?: AbortSignal;
  /** Aborted shortly before connections are closed by force: every answer still open ends with words of its own. */
  cutOff?: AbortSignal;
};
