import type { Model } from '../../api/use-models.ts';

/** Finds the list entry of a model: its own, or the wildcard entry of its provider. */
export function findModel(models: Model[], name: string): Model | undefined {
  const provider = name.slice(0, name.indexOf('/') + 1);
  return (
    models.find(({ model }) => model === name) ??
    (provider !== '' && name.length > provider.length
      ? models.find(({ model }) => model === `${provider}*`)
      : undefined)
  );
}
