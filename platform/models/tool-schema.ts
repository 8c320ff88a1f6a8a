// The parameters of tools as providers take them.
import type { JsonSchema } from '../../flow/definition.ts';
import { isObject } from '../../flow/json.ts';
import type { ToolDefinition } from '../../flow/tool-calls.ts';
import { standardizeSchema } from '../json-schema/standardize-schema.ts';
import { toStrictSchema } from './strict-schema.ts';

/**
 * Returns a tool with its parameters in standard keywords, and in those of strict mode where it asks for that and they have the
 * same meaning there. Providers refuse parameters without a type.
 */
export function toSentTool(tool: ToolDefinition): ToolDefinition {
  const { parameters, strict } = tool.function;
  if (parameters === undefined) return tool;
  const { schema } = standardizeSchema(parameters as JsonSchema);
  const isEmpty = isObject(schema) && Object.keys(schema).length === 0;
  const standard = isEmpty ? { type: 'object', properties: {} } : schema;
  const sent = (strict && toStrictSchema(standard)) || standard;
  return { ...tool, function: { ...tool.function, parameters: sent as typeof parameters } };
}
