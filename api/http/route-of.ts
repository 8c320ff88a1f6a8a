import type { Context } from 'koa';

/** Tells the route of a request as the API writes it, such as `/api/v1/projects/:project_id`; null where there is none. */
export function routeOf(ctx: Context): string | null {
  // Set by the router; without it, a request is at no known path.
  const route: unknown = ctx._matchedRoute;
  return route === undefined ? null : String(route);
}
