import type { Context } from 'koa';

/**
 * Returns the route of a request as the API writes it, such as `/api/v1/projects/:project_id`; null when there is
 * none.
 */
export function routeOf(ctx: Context): string | null {
  // Set by the router; missing for unknown paths.
  const route: unknown = ctx._matchedRoute;
  return route === undefined ? null : String(route);
}
