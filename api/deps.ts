import type { WebhookListeners } from '../activities/deliveries/webhook-listeners.ts';
import type { FlowDefinitions } from '../db/flows/flow-definitions.ts';
import type { Config } from '../platform/config/config.ts';
import type { Validator } from '../platform/json-schema/validator.ts';
import type { LargeValues } from '../platform/large-values/large-values.ts';
import type { HttpGates } from '../platform/limits/gates.ts';
import type { LiveRegistry } from '../platform/models/live-registry.ts';
import type { ResolvePublic } from '../platform/net/resolve-public.ts';
import type { EngineDeps } from '../temporal/deps.ts';
import type { HealthCheck } from '../worker/health-check.ts';
import type { AuthDeps } from './auth/deps.ts';
import type { OpenRequests } from './http/open-requests.ts';

/**
 * The dependencies of the endpoints, passed once to `createApp`. While `stopping`, streams that can be resumed end.
 */
export type ApiDeps = AuthDeps &
  EngineDeps & {
    definitions: FlowDefinitions;
    validator: Validator;
    gates: HttpGates;
    largeValues: LargeValues;
    health: HealthCheck;
    registry: LiveRegistry;
    resolvePublic: ResolvePublic;
    openRequests: OpenRequests;
    /** Present in a local service, whose worker runs in the same process. */
    listeners?: WebhookListeners | undefined;
    /** Aborts shortly before connections are closed by force: every open response ends with a last message. */
    cutOff?: AbortSignal;
  };

/**
 * The dependencies of checking and storing the call of a run. Commands without a Temporal connection can provide them
 * too.
 */
export type AcceptDeps = Pick<
  ApiDeps,
  | 'db'
  | 'definitions'
  | 'validator'
  | 'gates'
  | 'largeValues'
  | 'registry'
  | 'resolvePublic'
  | 'inProcessRuns'
> & {
  config: Pick<Config, 'runsUnderWayMax' | 'secretsKeys' | 'webhookListeners'>;
};
