import type { RunFilter } from './run-filter.ts';

/** The values to choose from. */
export type FilterChoices = {
  flows: { slug: string; name: string }[];
  /** Whether the project has more flows than these. */
  hasMoreFlows: boolean;
  /** Undefined for a member, who may not list keys. */
  keys: { keyId: string; name: string }[] | undefined;
  projects: { slug: string; name: string }[];
};

/** A change of some fields of the filter; undefined removes a field. */
export type FilterChange = { [Field in keyof RunFilter]?: RunFilter[Field] | undefined };
