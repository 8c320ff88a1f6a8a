// The header Prefer of /execute (RFC 7240): how the caller gets the answer of a run that takes long.
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import type { ApiContext } from '../http/context.ts';
import { toErrorBody } from '../http/errors.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { writeJson } from '../http/write-json.ts';

/** Clients that wait 5 s between two parts of an answer wait on. */
const KEEP_ALIVE_MS = 3_000;
const SPACE = '\n';
const WAIT_MAX_SECONDS = 24 * 60 * 60;

/** One preference: a token, perhaps with a value, perhaps with parameters, which none of ours has. */
const PREFERENCE = /^([\w!#$%&'*+.^`|~-]+)\s*(?:=([^;]*))?(?:;|$)/;
const QUOTED = /(=\s*)"((?:[^"\\]|\\.)*)"/g;

export const preferHeaders = z.object({
  Prefer: z.string().optional().meta({
    description:
      'For runs that take long (RFC 7240). `respond-async`: 202 at once, as for /jobs. `respond-async, wait=20`: 202 when the run has not ended or paused within 20 s. `keep-alive`: 200 at once, and white space until the run ends; a later error is `{detail}` under status 200. `respond-async` wins; other preferences are ignored.',
  }),
});

export const preferenceApplied = {
  'Preference-Applied': z
    .string()
    .optional()
    .meta({ description: 'What was applied of `Prefer`.', header: { id: 'Preference-Applied' } }),
};

/**
 * The preferences of the caller. `waitMs`: for respond-async, the time to wait for the end of the run before the 202.
 * `applied`: the header of the answer.
 */
type Preferences = { waitMs?: number; keepAlive?: true; applied?: string };

/** Reads the header Prefer. What is unknown or malformed in it is ignored; of two equal names the first counts. */
export function readPreferences(ctx: Pick<ApiContext, 'get'>): Preferences {
  const found = new Map<string, string>();
  const unquoted = ctx
    .get('Prefer')
    .replaceAll(QUOTED, (_, is: string, text: string) => is + text.replaceAll(/[,;]/g, ' '));
  for (const part of unquoted.split(',')) {
    const [, name = '', value = ''] = PREFERENCE.exec(part.trim()) ?? [];
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, value.trim());
  }
  if (found.has('respond-async')) {
    const wait = found.get('wait') ?? '';
    const seconds = /^\d+$/.test(wait) ? Math.min(Number(wait), WAIT_MAX_SECONDS) : 0;
    return {
      waitMs: seconds * 1_000,
      applied: seconds > 0 ? `respond-async, wait=${seconds}` : 'respond-async',
    };
  }
  return found.has('keep-alive') ? { keepAlive: true, applied: 'keep-alive' } : {};
}

/**
 * Answers 200 at once and sends white space until `describe` resolves with the rest of the answer. An error is then the body of
 * an error under that status.
 */
export function answerKeptAlive(ctx: ApiContext, describe: () => Promise<object>): void {
  const described = describe().catch((error: unknown) => toErrorBody(ctx, error).body);
  ctx.type = 'json';
  ctx.set('X-Accel-Buffering', 'no');
  ctx.body = Readable.from(spaceUntil(described, readerSignal(ctx.res)));
}

async function* spaceUntil(described: Promise<object>, gone: AbortSignal): AsyncGenerator<Buffer | string> {
  const over = new AbortController();
  const either = AbortSignal.any([gone, over.signal]);
  let answer: object | undefined;
  const answered = described.then((found) => {
    answer = found;
    over.abort('over');
  });
  while (!either.aborted) {
    yield SPACE;
    await setTimeout(KEEP_ALIVE_MS, undefined, { signal: either }).catch(() => undefined);
  }
  await answered;
  if (answer) yield Buffer.from(writeJson(answer));
}
