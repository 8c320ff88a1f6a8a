// The X-Weir-Model-Key header: keys of model providers for one run.
import { z } from 'zod';
import type { ApiDeps, ApiMiddleware } from './context.ts';
import { validationError } from './json-body.ts';
import { modelKeySchema } from './model-key-schema.ts';

const HEADER = 'X-Weir-Model-Key';

export const modelKeyHeaders = z.object({
  [HEADER]: z.string().optional().meta({
    description:
      '`provider=key`, several separated by commas: used for this run instead of the organization’s and the service’s. Never stored: each resume and step sends it again.',
    example: 'openai=sk-…',
  }),
});

const TWICE = new z.ZodError([
  { code: 'custom', path: [], message: 'names a provider twice', input: undefined },
]);

/** Sets `ctx.state.modelKeys` where the header is sent; 422 when it is none. What it says is repeated nowhere. */
export function readModelKeys({ config }: ApiDeps): ApiMiddleware {
  const entry = z.tuple([
    z.enum(Object.keys(config.providerUrls), { error: 'names no provider of this service' }),
    modelKeySchema,
  ]);
  return async function readModelKeys(ctx, next) {
    const header = ctx.get(HEADER);
    if (header !== '') {
      const pairs = header.split(',').map((pair) => /^\s*([^=]*)=(.*?)\s*$/.exec(pair)?.slice(1) ?? ['', '']);
      const parsed = z.array(entry).safeParse(pairs, { reportInput: false });
      if (!parsed.success) throw validationError(named(parsed.error));
      const keys = Object.fromEntries(parsed.data);
      if (Object.keys(keys).length < pairs.length) throw validationError(named(TWICE));
      ctx.state.modelKeys = keys;
    }
    await next();
  };
}

/** The header as a whole is what is wrong. */
function named(error: z.ZodError): z.ZodError {
  return new z.ZodError(error.issues.map((issue) => ({ ...issue, path: [HEADER] })));
}
