type Model = { model: string; key: 'service' | 'organization' | null };

/** Groups models by provider (`provider/model`), with the organization's own key for it, if any. */
export function groupModels<Key extends { provider: string }>(
  models: readonly Model[],
  keys: readonly Key[],
) {
  const names = new Set([
    ...models.map(({ model }) => model.split('/', 1)[0] ?? model),
    ...keys.map(({ provider }) => provider),
  ]);
  return [...names].sort().map((provider) => {
    const own = models.filter(({ model }) => model.startsWith(`${provider}/`));
    return {
      provider,
      models: own.map(({ model }) => model),
      paidWith: own[0]?.key ?? null,
      key: keys.find((key) => key.provider === provider),
    };
  });
}
