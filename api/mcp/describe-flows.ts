import type { z } from 'zod';
import { type ListedFlowDesign, loadDrafts } from '../../db/flows/flow-designs.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import type { ApiDeps } from '../deps.ts';
import { codeReaderWhileInTime } from '../flows/read-code-of.ts';
import { workInParts } from '../http/work-in-parts.ts';
import { type flowDesign, shortenSteps, toFlowDesign } from './flow-design.ts';

type Described = z.infer<typeof flowDesign> & { steps: FlowDefinition['steps'] | null };

/**
 * Describes flows of one project with their steps, with texts cut to `textMax` characters. Once the steps have
 * `allMax` characters of JSON, further steps are null. Drafts are read as in `workInParts`. Throws RATE_LIMITED.
 * Leaves out the problems of code once the permit to analyse it is late.
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
      // Deleted with its organization after it was listed.
      if (!draft) continue;
      const steps = shortenSteps(draft, textMax);
      size += JSON.stringify(steps).length;
      const design = await toFlowDesign(deps, flow, draft, readCode);
      described.push({ ...design, steps: size > allMax ? null : steps });
    }
  });
  return described;
}
