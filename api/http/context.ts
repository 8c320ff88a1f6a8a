import type { Middleware, ParameterizedContext } from 'koa';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import type { Db } from '../../db/connect.ts';
import type { IdempotencyKey } from '../../db/runs/idempotency-keys.ts';
import type { RunRow } from '../../db/runs/runs.ts';
import type { Role } from '../../db/schema.ts';
import type { FoundApiKey } from '../../db/tenants/api-keys.ts';
import type { ModelKeys } from '../../db/tenants/model-keys.ts';
import type { UserProject } from '../../db/tenants/user-projects.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import type { Principal, UserPrincipal } from './principal.ts';

/** The caller's place in the organization that a request is about. */
export type CallerMembership = { organizationId: string; role: Role };

/** The flow a request names, at the version it asks for. */
export type LoadedFlow = {
  organizationId: string;
  projectId: string;
  flowId: string;
  flowVersionId: string;
  version: number;
  balanceMicrocredits: number;
  definition: FlowDefinition;
  blockCount: number;
};

/** What the middleware of one request leaves for the next: each field is set by the middleware named like it. */
export type ApiState = {
  requestId: string;
  principal: Principal;
  /** The principal of endpoints that take users alone. */
  user: UserPrincipal;
  project: UserProject;
  /** The principal's, where it is an API key. */
  key?: FoundApiKey;
  membership: CallerMembership;
  /** Sets the membership anew, as it is for `db`, or throws. */
  authorizeAgain?: (db: Db) => Promise<void>;
  flow: LoadedFlow;
  run: RunRow;
  body: unknown;
  /** Lets the body go, and the bytes it takes, for whoever needs it no more and goes on for long. */
  dropBody: () => void;
  query: unknown;
  idempotencyKey: IdempotencyKey | undefined;
  modelKeys?: ModelKeys;
  /** From when a run may have been stored: every later error names it. */
  accepted?: { executionId: string } | undefined;
};

export type ApiContext = ParameterizedContext<ApiState> & { params: { [name: string]: string } };
/** A named step of an endpoint. */
export type ApiMiddleware = (ctx: ApiContext, next: () => Promise<void>) => Promise<void>;

/** One endpoint: an array of named middleware, and its entry in the OpenAPI document. */
export type Route = {
  method: 'get' | 'post' | 'put' | 'delete';
  /** As the router matches it, `/:org/…`. */
  path: string;
  operation: ZodOpenApiOperationObject;
  handlers: (ApiMiddleware | Middleware)[];
};
