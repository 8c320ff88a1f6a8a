// A misspelt variable would be as if it were not set, without a word.
import { findNearestName } from '../../flow/find-nearest-name.ts';
import { OTHER_VARIABLES } from './other-variables.ts';
import { PROVIDER_VARIABLES } from './providers.ts';
import { SECRET_VARIABLES } from './read-environment.ts';
import { variables } from './variables.ts';

/** Variables of the test suite. */
const OF_TESTS = ['WEIR_FAULTS'];
const PREFIX = 'WEIR_';
const KNOWN = [
  ...Object.keys(variables.shape),
  ...SECRET_VARIABLES.map((name) => `${name}_FILE`),
  ...OTHER_VARIABLES.flatMap(({ names }) => names),
  ...OF_TESTS,
]
  .filter((name) => name.startsWith(PREFIX))
  .map((name) => name.slice(PREFIX.length));
/** Kubernetes gives containers the addresses of all services: those of `weir-api` are WEIR_API_SERVICE_HOST, WEIR_API_PORT, … */
const OF_SERVICE = '_SERVICE_HOST';

/** Describes each unknown WEIR_… variable, with the variable that was probably meant. */
export function describeUnknown(env: NodeJS.ProcessEnv): string[] {
  const names = Object.keys(env)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => name.slice(PREFIX.length));
  const services = names
    .filter((name) => name.endsWith(OF_SERVICE))
    .map((name) => name.slice(0, -OF_SERVICE.length));
  const isAddress = (name: string) =>
    services.some((service) => name.startsWith(`${service}_SERVICE_`) || name.startsWith(`${service}_PORT`));
  return names
    .filter((name) => !KNOWN.includes(name) && !isAddress(name))
    .map((name) => {
      const meant = findNearestName(name, KNOWN);
      return `${PREFIX}${name} is set, but Weir has no such variable.${meant ? ` Did you mean ${PREFIX}${meant}?` : ''}`;
    });
}

/** Whether the service reads a variable, itself or by the packages for Temporal and object stores. */
export function isServiceVariable(name: string): boolean {
  return (
    Object.hasOwn(variables.shape, name) || PROVIDER_VARIABLES.includes(name) || /^(TEMPORAL|AWS)_/.test(name)
  );
}
