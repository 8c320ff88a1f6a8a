// The OpenAPI 3.1 document, made from the route table and the schemas that validate.
import { createDocument, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { Route } from './context.ts';

const PARAMETERS: { [name: string]: string } = {
  org: 'Organization slug.',
  project: 'Project slug.',
  flow: 'Flow slug.',
  version: 'Number of a published version.',
  executionId: 'As answered when the run was started.',
};

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
          description: PARAMETERS[name],
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
      description:
        'Runs published flows. Every error has the shape `{detail: {code, message, …}}`; unknown request fields are refused with 422.',
    },
    servers: [{ url: serverUrl }],
    security: [{ apiKey: [] }],
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: '`weir_live_…` or `weir_test_…`, of the flow’s project.',
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
