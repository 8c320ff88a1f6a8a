type Search = Record<string, unknown>;

/**
 * Makes a route's `validateSearch` of a function that reads what it knows: the router adds every parameter of the address that
 * is not in the answer, so that what cannot be right has to be in it, as undefined.
 */
export function leaveOutUnknown<Known extends object>(read: (search: Search) => Known) {
  return (search: Search): Known => ({
    ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
    ...read(search),
  });
}
