import type { RunFilter } from './run-filter.ts';

/** Things that there are to filter by. */
export type FilterChoices = {
  flows: { slug: string; name: string }[];
  /** The project has flows that are not among them. */
  hasMoreFlows: boolean;
  /** Undefined for a member, who may not list them. */
  keys: { keyId: string; name: string }[] | undefined;
  projects: { slug: string; name: string }[];
};

/** A change of some fields of the filter; undefined takes a field away. */
export type FilterChange = { [Field in keyof RunFilter]?: RunFilter[Field] | undefined };
