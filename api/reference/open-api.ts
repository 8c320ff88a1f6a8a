// Makes the OpenAPI 3.1 document from the route table and the schemas that validate requests. This folder has what exists
// only for that document, and the page that shows it.
import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { keyReused } from '../../db/runs/idempotency-keys.ts';
import { KEY_SCOPES, type KeyScope } from '../../db/tables/access.ts';
import { keyScopesOf, lacksScope } from '../auth/authenticate.ts';
import type { Route } from '../http/context.ts';
import { idempotencyHeaders } from '../http/idempotency-header.ts';
import { shapeOf, writesOnce } from '../http/idempotency-key.ts';
import { takesNoQuery } from '../http/query.ts';
import { errorAnswer, examplesOf, VALIDATION_ERRORS } from './operations.ts';
import { shareRepeated } from './share-repeated.ts';
import { webhooks } from './webhooks.ts';

const PARAMETERS: { [name: string]: { description: string; example?: string | number } } = {
  org: { description: 'Organization slug.', example: 'demo' },
  project: { description: 'Project slug.', example: 'demo' },
  flow: { description: 'Flow slug.', example: 'hello' },
  version: { description: 'Number of a published version.', example: 1 },
  executionId: { description: 'The id that was answered when the run was started.' },
  key: {
    description:
      'The key of a block execution, such as `step` or, in a loop, `step#0` (`step%230` in a path).',
  },
  slug: { description: 'Slug.', example: 'acme' },
  project_id: { description: 'The id of the project.' },
  flow_id: { description: 'The id of the flow.' },
  member_user_id: { description: 'The user_id of the member.' },
  invitation_id: { description: 'The id of the invitation.' },
  assistant_id: { description: 'The `id` of the assistant in the list.' },
  provider: { description: 'The prefix of its models.', example: 'openai' },
  key_id: { description: 'The 8 characters after weir_live_, weir_test_ or weir_operator_.' },
  user_id: { description: 'The `sub` of the user’s tokens.' },
  org_id: { description: 'The id of the organization.' },
  test_case_id: { description: 'The id of the test case.' },
  bulk_id: { description: 'The `bulk_id` with which the bulk retry was answered.' },
  test_run_id: { description: 'The id that the test run was answered with when it was started.' },
  requestId: { description: 'The id of a `delivery` event of the stream.' },
  deliveryId: { description: 'The X-Weir-Delivery header of the webhook.' },
};

const DESCRIPTION = `Weir runs published flows. \`execute\` waits for the result of a run. \`jobs\` starts a run and answers at once;
you then ask for the run by its \`executionId\`. Send an API key of the flow’s project as \`Authorization: Bearer weir_…\`:
\`npm start\` prints one, and \`weir key create\` makes more. Or send the JWT of a user; the management of organizations
and projects accepts only a JWT. A key has scopes: each endpoint names those of which it needs one.

Bodies are JSON in UTF-8. Unknown fields and query parameters are refused with 422. Every error but some of MCP has the shape
\`{detail: {code, message, …}}\`, and every answer to a request that could be read has an \`X-Request-Id\`.`;

const SCOPE_ERROR = {
  id: 'InsufficientScope',
  ...errorAnswer('The API key has none of the scopes.', examplesOf(lacksScope(['run'], ['read']))),
};

const KEY_REUSED = {
  id: 'IdempotencyKeyReused',
  ...errorAnswer('The Idempotency-Key was used with another request.', examplesOf(keyReused())),
};

const TAGS = [
  { name: 'Execution', description: 'Run flows, and follow their runs.' },
  { name: 'Runs', description: 'Runs of a project or an organization.' },
  { name: 'Organizations', description: 'Organizations, and the log of their changes.' },
  { name: 'Credits', description: 'The balance that pays for an organization’s runs, and its ledger.' },
  { name: 'Members', description: 'Who belongs to an organization, and their roles.' },
  { name: 'Projects', description: 'Projects of organizations.' },
  { name: 'Flows', description: 'Flows of projects: drafts, versions, and which version callers run.' },
  { name: 'API keys', description: 'Keys of projects, with which programs run flows.' },
  { name: 'Model keys', description: 'Keys of model providers that an organization brings.' },
  { name: 'Webhooks', description: 'Deliveries that report ended runs.' },
  { name: 'Webhook events', description: 'Requests that Weir sends to receivers.' },
  { name: 'Tests', description: 'Runs of a flow’s test cases.' },
  { name: 'MCP', description: 'Tools for assistants.' },
  { name: 'Assistants', description: 'The assistants that a user has connected over MCP.' },
  { name: 'Operators', description: 'What only operators of the service do.' },
  { name: 'Temporal', description: 'What the engine’s Web UI and CLI ask for.' },
];

/** Describes every route of the table. `serverUrl` is the address where callers reach the API. */
export function openApiDocument(routes: Route[], serverUrl: string) {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    const { method, path, operation } = route;
    // MCP, the one endpoint with two paths, is described under that without the slash.
    if (path.endsWith('/')) continue;
    const names = [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as string);
    const template = openApiPath(path);
    paths[template] = {
      ...paths[template],
      [method]: {
        ...operation,
        ...describeKeys(route),
        ...(writesOnce(route) && takeKeys(operation.requestParams)),
        responses: responsesOf(route),
        parameters: names.map((name) => ({
          name,
          in: 'path',
          required: true,
          ...PARAMETERS[name],
          schema: name === 'version' ? { type: 'integer', minimum: 1 } : { type: 'string' },
        })),
      },
    };
  }
  const described: ZodOpenApiObject = {
    openapi: '3.1.1',
    info: {
      title: 'Weir',
      version: '1',
      description: DESCRIPTION,
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    tags: TAGS,
    servers: [{ url: serverUrl }],
    security: [{ apiKey: [] }, { jwt: [] }],
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key of the flow’s project, `weir_live_…` or `weir_test_…`, with the scope.',
        },
        jwt: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'A token that the identity provider issued to a user. After `npm start`, `npx weir token` prints one.',
        },
        operatorKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A key of an operator of the service, `weir_operator_…`, from `weir operator create`. Endpoints that take the JWT of an organization’s owner take it too, for every organization.',
        },
        mcpJwt: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'A token that the identity provider issued for MCP: its client got it by OAuth 2.1, or from `npx weir token --mcp`. Other endpoints do not take it, and API keys are not accepted.',
        },
      },
    },
    paths,
    webhooks,
  };
  const document = createDocument(described, { override: ({ jsonSchema }) => omitLimits(jsonSchema) });
  shareRepeated(document);
  addMappings(document);
  return document;
}

/** Leaves out long patterns that only say what a format says, and the bounds that every integer in JSON has. */
function omitLimits(schema: { format?: string; pattern?: string; minimum?: number; maximum?: number }): void {
  if (['date', 'date-time', 'uuid'].includes(schema.format ?? '')) delete schema.pattern;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

type Union = { oneOf?: { $ref?: string }[]; discriminator?: { propertyName: string; mapping?: object } };
type Member = { properties?: { [name: string]: { const?: string } } };

/** Adds mappings that zod-openapi omits, as for a type with a default: without one, generators send the schema's name. */
function addMappings({ components }: ReturnType<typeof createDocument>): void {
  const schemas = (components?.schemas ?? {}) as { [name: string]: Union & Member };
  for (const { oneOf = [], discriminator } of Object.values(schemas)) {
    if (!discriminator || discriminator.mapping) continue;
    discriminator.mapping = Object.fromEntries(
      oneOf.map(({ $ref = '' }) => {
        const member = schemas[$ref.slice($ref.lastIndexOf('/') + 1)];
        return [member?.properties?.[discriminator.propertyName]?.const ?? '', $ref];
      }),
    );
  }
}

/** Describes which API keys an endpoint lets in, unless it is none, or all: those with one of the scopes it needs. */
function describeKeys(route: Route) {
  const scopes = scopesNeeded(route);
  return scopes.length > 0 && { security: [...scopes.map((scope) => ({ apiKey: [scope] })), { jwt: [] }] };
}

/** Lists the scopes of which an API key needs one, where some keys are let in and others not. */
function scopesNeeded(route: Route): readonly KeyScope[] {
  const scopes = keyScopesOf(route);
  return scopes.length === KEY_SCOPES.length ? [] : scopes;
}

/** Adds the header Idempotency-Key to the parameters of an endpoint. */
function takeKeys(params: Route['operation']['requestParams']): Pick<Route['operation'], 'requestParams'> {
  const shape = { ...(params?.header && shapeOf(params.header)), ...idempotencyHeaders.shape };
  return { requestParams: { ...params, header: z.object(shape) } };
}

/** Adds the answers that follow from the route table to the answers of an endpoint. */
function responsesOf(route: Route): ZodOpenApiResponsesObject {
  return {
    ...(scopesNeeded(route).length > 0 && { 403: SCOPE_ERROR }),
    ...((takesNoQuery(route) || writesOnce(route)) && VALIDATION_ERRORS),
    ...(writesOnce(route) && { 409: KEY_REUSED }),
    ...route.operation.responses,
  };
}

/** Turns `/:org/v:version` into `/{org}/v{version}`. */
export function openApiPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}
