// Temporal's Worker Versioning: the version that a worker calls itself (docs/operating/worker-versions.md).
import { z } from 'zod';

/** The name of the Worker Deployment, and the version of its code. */
export type Deployment = { deploymentName: string; buildId: string };

/** Temporal separates the two by a dot where it writes them as one, so a deployment's name has none. */
const deploymentName = z
  .string()
  .regex(/^(?!__)[^.\s]{1,200}$/, 'must be a name of at most 200 characters, without dots or spaces');
const buildId = z.string().regex(/^[^\s]{1,200}$/, 'must have at most 200 characters and no spaces');

/** The variables, as Temporal's Worker Controller for Kubernetes sets them. */
export const deploymentVariables = {
  TEMPORAL_DEPLOYMENT_NAME: deploymentName.optional().meta({
    program: 'worker',
    byDefault: 'none: no Worker Versioning',
    description:
      'Worker deployment whose versions are rolled out, a name without dots. Set it together with `TEMPORAL_WORKER_BUILD_ID`.',
  }),
  TEMPORAL_WORKER_BUILD_ID: buildId.optional().meta({
    program: 'worker',
    description: 'Version of this worker in its deployment, such as the tag of its image.',
  }),
};

type Values = {
  TEMPORAL_DEPLOYMENT_NAME?: string | undefined;
  TEMPORAL_WORKER_BUILD_ID?: string | undefined;
};

/** Reads the version of this worker; undefined without Worker Versioning. Throws an Error when half of it is given. */
export function readDeployment(values: Values): Deployment | undefined {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = values;
  if (deploymentName === undefined && buildId === undefined) return undefined;
  if (deploymentName === undefined || buildId === undefined)
    throw new Error(
      'TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID belong together: set both for Worker Versioning, or neither.',
    );
  return { deploymentName, buildId };
}
