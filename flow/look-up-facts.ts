import type { Json } from './definition.ts';
import { inspectItems, meets, type Surroundings } from './interpreter.ts';
import type { Value } from './value.ts';

/** A fact about a value that a loop needs: how many items it has, or whether the loop's condition holds. */
type Fact = boolean | { items: number | undefined };
export type Facts = Map<string, Fact>;

/**
 * Creates the functions that answer a loop's questions about stored values. Each value is resolved once; `facts` caches the
 * answers.
 */
export function lookUpFacts(
  resolve: (value: Value) => Promise<Json>,
  facts: Facts,
): Pick<Surroundings, 'inspect' | 'holds'> {
  async function know<T extends Fact>(what: string, value: Value, look: (json: Json) => T): Promise<T> {
    const key = `${what} ${JSON.stringify(value)}`;
    const known = facts.get(key) as T | undefined;
    const fact = known ?? look(await resolve(value));
    facts.set(key, fact);
    return fact;
  }
  return {
    inspect: (value) => know('items', value, inspectItems),
    holds: (condition, value) => know(JSON.stringify(condition), value, (json) => meets(condition, json)),
  };
}
