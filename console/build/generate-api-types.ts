// Writes console/api/schema.d.ts, the types of the HTTP API as the console sees it, from the API document. They are
// made before each build and each type check, so that a change of the interface that breaks the console breaks its build.
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
// The routes may have begun something that waits.
process.exit();
