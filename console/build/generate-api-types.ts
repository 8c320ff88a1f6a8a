// Writes console/api/schema.d.ts, the types of the HTTP API as the console sees it, from the API document. They are
// made before each build and each type check, so that a change of the interface that breaks the console breaks its build.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { apiRoutes } from '../../api/app.ts';
import type { ApiDeps } from '../../api/deps.ts';
import { openApiDocument } from '../../api/reference/open-api.ts';

const TARGET = path.join(import.meta.dirname, '../api/schema.d.ts');

/** Stands for the dependencies of the routes, of which the document uses none. */
const unused: object = new Proxy(() => undefined, {
  get: (_target, name) => (name === Symbol.toPrimitive ? () => '' : unused),
  apply: () => unused,
});

const document = openApiDocument(apiRoutes(unused as ApiDeps), '/');
mkdirSync(path.dirname(TARGET), { recursive: true });
writeFileSync(TARGET, astToString(await openapiTS(JSON.stringify(document), { defaultNonNullable: false })));
// The routes may have begun something that waits.
process.exit();
