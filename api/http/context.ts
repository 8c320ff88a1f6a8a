import type { Middleware, ParameterizedContext } from 'koa';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import type { Db } from '../../db/connect.ts';
import type { IdempotencyKey } from '../../db/runs/idempotency-keys.ts';
import type { RunRow } from '../../db/runs/runs.ts';
import type { Role } from '../../db/schema.ts';
import type { FoundApiKey } from '../../db/tenants/api-keys.ts';
import type { RunLimits } from '../../db/tenants/limits.ts';
import type { ModelKeys } from '../../db/tenants/model-keys.ts';
import type { UserProject } from '../../db/tenants/projects.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import type { ErrorCode } from '../../flow/errors.ts';
import type { Permit } from '../../platform/limits/fair-queue.ts';
import type { KeyedRequest } from './keyed-request.ts';
import type { Principal, UserPrincipal } from './principal.ts';

/** The caller's role in the organization of the request. */
export type CallerMembership = { organizationId: string; role: Role };

type FlowIds = { organizationId: string; projectId: string; flowId: string };

/** The flow that a request names, at the version it asks for, and what its organization may run. */
export type LoadedFlow = FlowIds &
  RunLimits & {
    /**
     * undefined for a draft that has never run in its present form. The code that stores the call also stores its
     * snapshot.
     */
    flowVersionId: string | undefined;
    version: number;
    /** When the flow was loaded, in milliseconds of `performance.now()`. */
    foundAt: number;
    definition: FlowDefinition;
    blockCount: number;
  };

/** A body as it was sent, and the organization or user that its bytes count for. */
export type ReceivedBody = { owner: string; bytes: Buffer };

/** The state of one request. Each field names the middleware that sets it; elsewhere the field is missing. */
export type ApiState = {
  /** `observeRequest`. */
  requestId: string;
  /** `observeRequest`, once the response is decided; the headers may be sent later. */
  isAnswered?: true;
  /** `handleErrors`, for the log and the metrics. */
  errorCode?: ErrorCode;
  /** `identifyCaller` or `authenticateUser`. */
  principal: Principal;
  /** The principal, on endpoints that take only users (`authenticateUser`). */
  user: UserPrincipal;
  /** `loadProject`. */
  project: UserProject;
  /** The principal's API key, where it is one (`identifyCaller`). */
  key?: FoundApiKey;
  /** `authorizeBy`. */
  membership: CallerMembership;
  /** Finds the membership again in `db`, or throws. A write calls it in its own transaction (`authorizeBy`). */
  authorizeAgain?: (db: Db) => Promise<CallerMembership>;
  /** `loadFlow`, `loadDraft` or `loadFlowOfRun`. */
  flow: LoadedFlow;
  /** Throws unless the draft is the expected one and can run (`loadDraft`). */
  requireRunnable?: () => Promise<void>;
  /** The flow's slugs, set with `flow`. */
  slugs: { organization: string; project: string; flow: string };
  /**
   * The same flow (`loadFlow`, `loadDraft`). Endpoints that read or cancel runs have only this, because the flow may
   * be unpublished (`loadFlowIds`).
   */
  flowIds: FlowIds;
  /** `loadRun`; `waitForEnd` replaces it. */
  run: RunRow;
  /** `readBody`. */
  body: unknown;
  /** Releases the permit of a request that goes on to wait for a run (`limitRate`). */
  releaseRequest?: () => void;
  /** The request's permit to start a run (`admit`). */
  permit?: Permit | undefined;
  /** The body, for `readBody`. Rejects with the problem of the body (`admit`). */
  received?: Promise<ReceivedBody> | undefined;
  /** Drops the body and releases the permit for its bytes, before long work that needs neither (`receive`). */
  releaseBody: () => void;
  /** Releases the permit for the bytes of a response that will not be sent (`reserveAnswer`). */
  releaseAnswer?: () => void;
  /** `readQuery`. */
  query: unknown;
  /** `readCallOptions`. */
  idempotencyKey: IdempotencyKey | undefined;
  /** `takeIdempotencyKey`. */
  keyed?: KeyedRequest;
  /** `readCallOptions`. */
  modelKeys?: ModelKeys | undefined;
  /** Set once a run may be stored. Every later error includes the executionId (`acceptCall`). */
  accepted?: { executionId: string } | undefined;
};

export type ApiContext = ParameterizedContext<ApiState> & { params: { [name: string]: string } };
/** A named step of an endpoint. */
export type ApiMiddleware = (ctx: ApiContext, next: () => Promise<void>) => Promise<void>;

/** An endpoint: its middleware, and its entry in the OpenAPI document. */
export type Route = {
  method: 'get' | 'post' | 'put' | 'delete';
  /** The router's pattern, such as `/:org/…`. */
  path: string;
  operation: ZodOpenApiOperationObject;
  handlers: (ApiMiddleware | Middleware)[];
};
