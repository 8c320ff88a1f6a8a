// main: writes docs/flow-file.schema.json, by which editors check flow files.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { flowFileSchema } from './written-flow.ts';

export const SCHEMA_FILE = path.join(import.meta.dirname, '../../docs/flow-file.schema.json');

/** Returns the JSON Schema of flow files as text, made from the schema that `parseFlowFile` uses. */
export function flowFileJsonSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(flowFileSchema, { io: 'input' }), null, 2)}\n`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(SCHEMA_FILE, flowFileJsonSchema());
