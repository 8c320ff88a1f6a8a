// The X-Weir-Model-Key header: keys of model providers for one run.
import { z } from 'zod';
import type { ModelKeys } from '../../../db/tenants/model-keys.ts';
import type { ApiDeps } from '../../deps.ts';
import type { ApiMiddleware } from '../../http/context.ts';
import { PARSE_OPTIONS, validationError } from '../../http/json-body.ts';
import { modelKeySchema } from '../../organizations/model-key-schemas.ts';

export const MODEL_KEY_HEADER = 'X-Weir-Model-Key';

export const modelKeyHeaders = z.object({
  [MODEL_KEY_HEADER]: z.string().optional().meta({
    description:
      '`provider=key`, such as `openai=sk-…`, several separated by commas. These keys are used for this call instead of those of the organization and the service. They are stored encrypted until the call ends or pauses: send them again with each resume and step.',
  }),
});

/** Reads the header into `ctx.state.modelKeys`, as `modelKeysParser` does. */
export function readModelKeys(deps: ApiDeps): ApiMiddleware {
  const parse = modelKeysParser(deps);
  return async function readModelKeys(ctx, next) {
    ctx.state.modelKeys = parse(ctx.get(MODEL_KEY_HEADER));
    await next();
  };
}

/** Makes the parser of the header; 422 when it is malformed. Messages never repeat its content. */
export function modelKeysParser({
  config,
}: Pick<ApiDeps, 'config'>): (header: string) => ModelKeys | undefined {
  const providers = Object.keys(config.ownKeyProviders);
  const entry = z.tuple([
    z.enum(providers, { error: `has to name a provider that takes own keys here: ${providers.join(', ')}` }),
    modelKeySchema,
  ]);
  const entries = z
    .array(entry)
    .refine(
      (all) => new Set(all.map(([provider]) => provider)).size === all.length,
      'names a provider twice',
    );
  return function parse(header) {
    if (header === '') return undefined;
    const parsed = entries.safeParse(header.split(',', providers.length + 1).map(readPair), PARSE_OPTIONS);
    if (!parsed.success) throw validationError(named(parsed.error));
    return Object.fromEntries(parsed.data);
  };
}

function readPair(text: string): [string, string] {
  const end = text.indexOf('=');
  return [text.slice(0, Math.max(end, 0)).trim(), text.slice(end + 1).trim()];
}

/** Names the whole header in each problem. */
function named(error: z.ZodError): z.ZodError {
  return new z.ZodError(error.issues.map((issue) => ({ ...issue, path: [MODEL_KEY_HEADER] })));
}
