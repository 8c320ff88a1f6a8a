import { PROVIDER_VARIABLES } from './providers.ts';
import { variables } from './variables.ts';

/** Whether the service reads a variable, itself or by the packages for Temporal and object stores. */
export function isServiceVariable(name: string): boolean {
  return (
    Object.hasOwn(variables.shape, name) || PROVIDER_VARIABLES.includes(name) || /^(TEMPORAL|AWS)_/.test(name)
  );
}
