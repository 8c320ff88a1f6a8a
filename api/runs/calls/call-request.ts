import type { IdempotencyKey } from '../../../db/runs/idempotency-keys.ts';
import type { Environment } from '../../../db/schema.ts';
import type { Author } from '../../../db/tenants/audit-entries.ts';
import type { ModelKeys } from '../../../db/tenants/model-keys.ts';
import type { Leave } from '../../../platform/limits/turn-to-leave.ts';
import type { RunStart } from '../../../temporal/start-run.ts';
import type { LoadedFlow } from '../../http/context.ts';

/** A request that starts a run or goes on with one, as its middleware has read it. */
export type CallRequest<Body> = {
  /** The path's names for the flow. */
  slugs: Pick<RunStart, 'organization' | 'project' | 'flow'>;
  /** Whether the path names a version. */
  pinned: boolean;
  flow: LoadedFlow;
  /** Throws unless a call can run the flow as it is loaded. */
  requireRunnable?: (() => Promise<void>) | undefined;
  /** The id of the request, by which the log is searched. */
  requestId: string;
  /** Whoever is recorded in the audit log when the request starts a run; undefined where starts are not recorded. */
  author?: Author | undefined;
  environment: Environment;
  /** The key_id of the API key that the request came with; undefined for a user. */
  keyId: string | undefined;
  body: Body;
  /** Ends the turn at large work that the request has, if any; called before it waits for something. */
  endLargeWork?: () => void;
  /** Leaves that turn while the request waits for what is elsewhere, and comes back to the work. */
  leaveLargeWork?: Leave;
  idempotencyKey: IdempotencyKey | undefined;
  modelKeys: ModelKeys | undefined;
};
