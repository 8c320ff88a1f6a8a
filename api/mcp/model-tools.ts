import { z } from 'zod';
import { listModels } from '../flows/list-models.ts';
import { requireProject } from './require-project.ts';
import { projectId } from './shapes.ts';
import { defineTool } from './tool.ts';

const price = z.number().meta({ description: 'Credits per million tokens.' });

const listModelsTool = defineTool({
  name: 'list_models',
  title: 'List models',
  description:
    'Lists the models that llm blocks of a project can use here, with their prices and abilities. provider/* stands for each other model of the provider; prices are credits per million tokens, 0 where the organization has a key of its own. Other models fail unless a caller sends a key.',
  scope: 'flows:read',
  hints: { readOnlyHint: true },
  input: z.strictObject({ project_id: projectId }),
  output: z.strictObject({
    models: z.array(
      z.strictObject({
        model: z.string(),
        key: z.enum(['service', 'organization']),
        input_price: price,
        output_price: price,
        context_tokens: z.int(),
        images: z.boolean(),
        tools: z.boolean(),
        json_schema: z.boolean(),
      }),
    ),
  }),
  async run(call, { project_id }) {
    const project = await requireProject(call, project_id);
    const models = (await listModels(call.deps, project.organization_id)).flatMap((one) => {
      const { model, key, inputPrice, outputPrice, contextTokens, images, tools, jsonSchema } = one;
      if (key === null) return [];
      return {
        model,
        key,
        images,
        tools,
        input_price: inputPrice,
        output_price: outputPrice,
        context_tokens: contextTokens,
        json_schema: jsonSchema,
      };
    });
    return { models };
  },
});

export const modelTools = [listModelsTool];
