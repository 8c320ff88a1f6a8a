import type { Middleware, ParameterizedContext } from 'koa';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import type { Db } from '../../db/connect.ts';
import type { IdempotencyKey } from '../../db/runs/idempotency-keys.ts';
import type { RunRow } from '../../db/runs/runs.ts';
import type { Role } from '../../db/schema.ts';
import type { FoundApiKey } from '../../db/tenants/api-keys.ts';
import type { ModelKeys } from '../../db/tenants/model-keys.ts';
import type { RunLimits } from '../../db/tenants/run-limits.ts';
import type { UserProject } from '../../db/tenants/user-projects.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import type { ErrorCode } from '../../flow/errors.ts';
import type { Place } from '../../platform/limits/place.ts';
import type { Leave } from '../../platform/limits/turn-to-leave.ts';
import type { Principal, UserPrincipal } from './principal.ts';

/** The caller's place in the organization that a request is about. */
export type CallerMembership = { organizationId: string; role: Role };

/** The flow that a request names. */
type FlowIds = { organizationId: string; projectId: string; flowId: string };

/** The flow that a request names, at the version it asks for, and what its organization may run. */
export type LoadedFlow = FlowIds &
  RunLimits & {
    /** undefined for a draft that was not run yet as it is: whoever stores a call of it stores its snapshot too. */
    flowVersionId: string | undefined;
    version: number;
    /** When it was looked up, by the clock of `performance`. */
    foundAt: number;
    definition: FlowDefinition;
    blockCount: number;
  };

/** A body as it was sent, whose bytes it takes, and the function that frees it and gives its bytes back to the budget. */
export type ReceivedBody = { owner: string; bytes: Buffer; giveBack: () => void };

/** The state of one request. Each field says what sets it; on other endpoints it is missing. */
export type ApiState = {
  /** `identifyRequest`. */
  requestId: string;
  /** `identifyRequest`, once the answer is decided, which may be before its head is sent. */
  isAnswered?: true;
  /** `handleErrors`, for the log and the metrics. */
  errorCode?: ErrorCode;
  /** `authenticate` or `authenticateUser`. */
  principal: Principal;
  /** The principal, on endpoints that take only users (`authenticateUser`). */
  user: UserPrincipal;
  /** `loadProject`. */
  project: UserProject;
  /** The principal's API key, where it is one (`authenticate`). */
  key?: FoundApiKey;
  /** `authorizeBy`. */
  membership: CallerMembership;
  /** Looks the membership up again in `db`, or throws; a write asks in its own transaction (`authorizeBy`). */
  authorizeAgain?: (db: Db) => Promise<CallerMembership>;
  /** `loadFlow`, `loadDraft` or `loadFlowOfRun`. */
  flow: LoadedFlow;
  /** Throws unless the draft is the one that the caller means, and can run (`loadDraft`). */
  requireRunnable?: () => Promise<void>;
  /** The flow's slugs, set with `flow`. */
  slugs: { organization: string; project: string; flow: string };
  /**
   * The same flow (`loadFlow`, `loadDraft`); on endpoints that read and cancel runs only this, because the flow need not be
   * published (`loadFlowIds`).
   */
  flowIds: FlowIds;
  /** `loadRun`; `waitForEnd` sets it anew. */
  run: RunRow;
  /** `readBody`. */
  body: unknown;
  /** The request's place among those that begin runs (`admit`). */
  place?: Place | undefined;
  /** The body, for `readBody`; rejects with what is wrong with it (`receiveBody`). */
  received?: Promise<ReceivedBody>;
  /** Ends the turn that a large body has: others' are read while this request waits for something (`readBody`). */
  endLargeWork: () => void;
  /** Waits without that turn, and then for another one (`readBody`). */
  leaveLargeWork: Leave;
  /** Frees what is held for an answer that will not be sent (`holdAnswerBytes`, `holdBytesAlone`). */
  freeAnswer?: () => void;
  /** Frees the body and its bytes; called before long work that needs neither (`readBody`). */
  dropBody: () => void;
  /** `readQuery`. */
  query: unknown;
  /** `readIdempotencyKey`. */
  idempotencyKey: IdempotencyKey | undefined;
  /** `readModelKeys`. */
  modelKeys?: ModelKeys;
  /** Set once a run may have been stored: every later error names it (`acceptCall`). */
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
