// Writes console/api/schema.d.ts, the types of the HTTP API, from the API document. Each build and each type check runs
// it first, so a change of the API that breaks the console breaks its build.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { apiRoutes } from '../../api/app.ts';
import type { ApiDeps } from '../../api/deps.ts';
import { openApiDocument } from '../../api/reference/open-api.ts';

const TARGET = path.join(import.meta.dirname, '../api/schema.d.ts');

/** Stands in for the dependencies of the routes; the document uses none of them. */
const unused: object = new Proxy(() => undefined, {
  get: (_target, name) => (name === Symbol.toPrimitive ? () => '' : unused),
  apply: () => unused,
});

const document = openApiDocument(apiRoutes(unused as ApiDeps), '/');
mkdirSync(path.dirname(TARGET), { recursive: true });
writeFileSync(TARGET, astToString(await openapiTS(JSON.stringify(document), { defaultNonNullable: false })));
// Importing the routes may have started timers or connections.
process.exit();
