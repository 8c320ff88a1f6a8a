/** Names the actor of a change: a user, an API key, an operator's key or the service. */
export function nameActor(
  actor: string,
  keyNames: ReadonlyMap<string, string>,
  nameOfUser: (userId: string) => string,
): string {
  const [, kind, id = ''] = /^(api_key|operator)\/(.+)$/.exec(actor) ?? [];
  if (kind === 'api_key') return `key ${keyNames.get(id) ?? id}`;
  if (kind === 'operator') return `operator key ${id}`;
  return actor === 'service' ? 'the service' : nameOfUser(actor);
}
