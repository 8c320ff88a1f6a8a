import type { z } from 'zod';
import { type ListedFlowDesign, loadDrafts } from '../../db/flows/flow-designs.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import type { ApiDeps } from '../deps.ts';
import { codeReaderWhileInTime } from '../flows/read-code-of.ts';
import { workInParts } from '../http/work-in-parts.ts';
import { type flowDesign, shortenSteps, toFlowDesign } from './flow-design.ts';

type Described = z.infer<typeof flowDesign> & { steps: FlowDefinition['steps'] | null };

/**
 * Describes flows of one project with their steps, in which texts over `textMax` characters are cut. The steps are null once
 * those before have `allMax` characters as JSON. Drafts are read as by `workInParts`. Throws RATE_LIMITED. The problems of code
 * are left out once the turn to read it does not come.
 */
export async function describeFlows(
  deps: Pick<ApiDeps, 'db' | 'config' | 'largeValues'>,
  flows: ListedFlowDesign[],
  { textMax, allMax }: { textMax: number; allMax: number },
): Promise<Described[]> {
  const described: Described[] = [];
  let size = 0;
  const organizationId = flows[0]?.organization_id ?? '';
  const readCode = codeReaderWhileInTime(deps, organizationId);
  await workInParts(deps, organizationId, flows, async (part) => {
    const drafts = await loadDrafts(
      deps.db,
      part.map(({ id }) => id),
    );
    for (const flow of part) {
      const draft = drafts.get(flow.id);
      // Deleted with its organization since it was listed.
      if (!draft) continue;
      const steps = shortenSteps(draft, textMax);
      size += JSON.stringify(steps).length;
      const design = await toFlowDesign(deps, flow, draft, readCode);
      described.push({ ...design, steps: size > allMax ? null : steps });
    }
  });
  return described;
}
