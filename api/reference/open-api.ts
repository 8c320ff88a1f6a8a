// The OpenAPI 3.1 document, made from the route table and the schemas that validate.
import { createDocument, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { Route } from '../http/context.ts';

const PARAMETERS: { [name: string]: { description: string; example?: string | number } } = {
  org: { description: 'Organization slug.', example: 'demo' },
  project: { description: 'Project slug.', example: 'demo' },
  flow: { description: 'Flow slug.', example: 'hello' },
  version: { description: 'Number of a published version.', example: 1 },
  executionId: { description: 'As answered when the run was started.' },
  slug: { description: 'Slug.', example: 'acme' },
  project_id: { description: 'Id of the project.' },
  member_user_id: { description: 'user_id of the member.' },
  provider: { description: 'Prefix of its models.', example: 'openai' },
  key_id: { description: 'The 8 characters after weir_live_ or weir_test_.' },
  org_id: { description: 'Id of the organization.' },
  test_run_id: { description: 'As run_all_tests or run_test_case of MCP answered it.' },
  deliveryId: { description: 'X-Weir-Delivery of the webhook.' },
};

const DESCRIPTION = `Runs published flows. \`execute\` waits for the result of a run; \`jobs\` starts one and answers at
once, to be asked for by its \`executionId\`. Send an API key of the flow’s project as \`Authorization: Bearer weir_…\`:
\`npm start\` prints one, \`npx weir key create\` makes more. Or send a JWT of a user: the management of organizations and
projects takes nothing else.

Bodies are JSON in UTF-8. Unknown request fields are refused with 422. Every error has the shape
\`{detail: {code, message, …}}\`, and every answer to a request that could be read an \`X-Request-Id\`.`;

/** Describes every route of the table. `serverUrl` is where callers reach the API. */
export function openApiDocument(routes: Route[], serverUrl: string) {
  const paths: ZodOpenApiPathsObject = {};
  for (const { method, path, operation } of routes) {
    const names = [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as string);
    const template = openApiPath(path);
    paths[template] = {
      ...paths[template],
      [method]: {
        ...operation,
        parameters: names.map((name) => ({
          name,
          in: 'path',
          required: true,
          ...PARAMETERS[name],
          schema: { type: name === 'version' ? 'integer' : 'string' },
        })),
      },
    };
  }
  return createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Weir',
      version: '1',
      description: DESCRIPTION,
    },
    servers: [{ url: serverUrl }],
    security: [{ apiKey: [] }, { jwt: [] }],
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: '`weir_live_…` or `weir_test_…`, of the flow’s project.',
        },
        jwt: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'Of the identity provider, for a user: `npx weir token` prints one of a local start.',
        },
      },
    },
    paths,
  });
}

/** `/:org/v:version` → `/{org}/v{version}` */
export function openApiPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}
