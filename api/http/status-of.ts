import type { Context } from 'koa';

/** Returns the status of the response; null when the client hung up before there was one. */
export function statusOf(ctx: Context): number | null {
  return ctx.res.headersSent || ctx.state.isAnswered ? ctx.status : null;
}
