type Search = Record<string, unknown>;

/**
 * Makes a `validateSearch` from a function that reads the known parameters. The router keeps parameters that the result
 * does not have, so all others are set to undefined.
 */
export function dropUnknown<Known extends object>(read: (search: Search) => Known) {
  return (search: Search): Known => ({
    ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
    ...read(search),
  });
}
