import { providerOf, type Registry } from './registry.ts';

/** Says that a model is in no list, and what it is charged; undefined for one that is listed, or that no run can use. */
export function noteUnlisted(registry: Pick<Registry, 'find' | 'lists'>, model: string): string | undefined {
  const found = registry.lists(model) ? undefined : registry.find(model);
  if (!found) return undefined;
  const { price, reported_cost } = found;
  const like = `like ${providerOf(model)}/*, ${toCredits(price.input)} credits for a million tokens of input and ${toCredits(price.output)} of output`;
  const charged = reported_cost ? `what its provider reports, otherwise ${like}` : like;
  return `${model} is in no list of models. Its calls with a key of the service are charged ${charged}.`;
}

/** 1 USD is 100 credits. */
function toCredits(usd: number): number {
  return Number((usd * 100).toFixed(4));
}
