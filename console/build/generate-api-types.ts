// Writes console/api/schema.d.ts, the types of the HTTP API, from the API document. Each build and each type check runs
// it first, so a change of the API that breaks the console breaks its build.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { buildDocument } from '../../api/reference/build-document.ts';

const TARGET = path.join(import.meta.dirname, '../api/schema.d.ts');

mkdirSync(path.dirname(TARGET), { recursive: true });
writeFileSync(
  TARGET,
  astToString(await openapiTS(JSON.stringify(buildDocument()), { defaultNonNullable: false })),
);
// Importing the routes may have started timers or connections.
process.exit();
