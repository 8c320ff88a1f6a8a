import { apiRoutes } from '../app.ts';
import type { ApiDeps } from '../deps.ts';
import { openApiDocument } from './open-api.ts';

/** Stands for the dependencies of the routes, of which the document uses none. */
const unused: object = new Proxy(() => undefined, {
  get: (_target, name) => (name === Symbol.toPrimitive ? () => '' : unused),
  apply: () => unused,
});

/** Builds the API document without a service, with `/` as the address. Routes may begin to wait: exit when done. */
export function buildDocument() {
  return openApiDocument(apiRoutes(unused as ApiDeps), '/');
}
