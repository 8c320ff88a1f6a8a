import { type SearchAttributePair, TypedSearchAttributes } from '@temporalio/common';
import type { Environment, RunMode } from '../db/schema.ts';

/** A run of a flow, by the names and numbers that callers know. */
export type FlowRun = {
  organization: string;
  project: string;
  flow: string;
  version: number;
  mode: RunMode;
  environment: Environment;
};

/**
 * The search attributes by which operators find workflows: all of a run, a test run or the delivery of a run; of a test
 * delivery, its organization.
 */
export function searchAttributesOf(origin: FlowRun | Pick<FlowRun, 'organization'>): TypedSearchAttributes {
  const { organization } = origin;
  const pairs: SearchAttributePair[] = [
    { key: { name: 'WeirOrganization', type: 'KEYWORD' }, value: organization },
  ];
  if ('flow' in origin)
    pairs.push(
      { key: { name: 'WeirProject', type: 'KEYWORD' }, value: origin.project },
      { key: { name: 'WeirFlow', type: 'KEYWORD' }, value: origin.flow },
      { key: { name: 'WeirVersion', type: 'INT' }, value: origin.version },
      { key: { name: 'WeirMode', type: 'KEYWORD' }, value: origin.mode },
      { key: { name: 'WeirEnvironment', type: 'KEYWORD' }, value: origin.environment },
    );
  return new TypedSearchAttributes(pairs);
}
