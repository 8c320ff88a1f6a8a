import type { IdempotencyKey } from '../../../db/runs/idempotency-keys.ts';
import type { Environment } from '../../../db/schema.ts';
import type { Author } from '../../../db/tenants/audit-entries.ts';
import type { ModelKeys } from '../../../db/tenants/model-keys.ts';
import type { RunStart } from '../../../temporal/start-run.ts';
import type { LoadedFlow } from '../../http/context.ts';

/** A request that starts or continues a run, as read by the middleware. */
export type CallRequest<Body> = {
  /** The slugs in the path. */
  slugs: Pick<RunStart, 'organization' | 'project' | 'flow'>;
  /** Whether the path names a version. */
  pinned: boolean;
  flow: LoadedFlow;
  /** Throws unless the flow can run as it is loaded. */
  requireRunnable?: (() => Promise<void>) | undefined;
  /** The request id, for searching the log. */
  requestId: string;
  /** The author in the audit log when the request starts a run; undefined where starts are not recorded. */
  author?: Author | undefined;
  environment: Environment;
  /** The key_id of the request's API key; undefined for a user. */
  keyId: string | undefined;
  /** The user who sends the request; undefined for a key. */
  userId?: string | undefined;
  body: Body;
  /** Aborts when the caller has gone. */
  gone?: AbortSignal;
  idempotencyKey: IdempotencyKey | undefined;
  modelKeys: ModelKeys | undefined;
};
