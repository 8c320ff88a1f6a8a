// list_models
import { z } from 'zod';
import { findModelProviders } from '../flows/find-model-providers.ts';
import { requireProject } from './require-project.ts';
import { projectId } from './shapes.ts';
import { defineTool } from './tool.ts';

/** One credit is 0.01 USD. */
const CREDITS_PER_USD = 100;

const price = z.number().meta({ description: 'Credits per million tokens.' });

const listModels = defineTool({
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
    const providers = await findModelProviders(call.deps, project.organization_id);
    const models = call.deps.registry.models().flatMap((model) => {
      const key = providers.get(model.slice(0, model.indexOf('/')));
      if (!key) return [];
      const { price, context_tokens, image_mime_types, tools, json_schema } =
        call.deps.registry.capabilities(model);
      return {
        model,
        key,
        input_price: key === 'service' ? price.input * CREDITS_PER_USD : 0,
        output_price: key === 'service' ? price.output * CREDITS_PER_USD : 0,
        context_tokens,
        images: image_mime_types.length > 0,
        tools,
        json_schema,
      };
    });
    return { models };
  },
});

export const modelTools = [listModels];
