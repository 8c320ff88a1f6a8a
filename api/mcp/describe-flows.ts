import type { z } from 'zod';
import { type ListedFlowDesign, loadDrafts } from '../../db/flows/flow-designs.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import type { ApiDeps } from '../deps.ts';
import { holdingBytes } from '../http/take-bytes.ts';
import { type flowDesign, shortenSteps, toFlowDesign } from './flow-design.ts';

/** A little more than the largest draft. Most projects fit in one go. */
const AT_ONCE_BYTES = 2 * 1024 * 1024;

type Described = z.infer<typeof flowDesign> & { steps: FlowDefinition['steps'] | null };

/**
 * Describes flows of one project with their steps, in which texts over `textMax` characters are cut. The steps are null once
 * those before have `allMax` characters as JSON. Drafts are read a few at a time, once it is their organization's turn, and
 * dropped before the next: together they may be many times as large as the answer. Throws RATE_LIMITED.
 */
export async function describeFlows(
  { db, config, largeValues }: Pick<ApiDeps, 'db' | 'config' | 'largeValues'>,
  flows: ListedFlowDesign[],
  { textMax, allMax }: { textMax: number; allMax: number },
): Promise<Described[]> {
  const described: Described[] = [];
  let size = 0;
  for (const { organizationId, bytes, part } of toParts(flows)) {
    await holdingBytes(largeValues, organizationId, bytes, async () => {
      const drafts = await loadDrafts(
        db,
        part.map(({ id }) => id),
      );
      for (const flow of part) {
        const draft = drafts.get(flow.id);
        // Deleted with its organization since it was listed.
        if (!draft) continue;
        const steps = shortenSteps(draft, textMax);
        size += JSON.stringify(steps).length;
        described.push({
          ...toFlowDesign({ ...flow, draft }, config.mcp.url),
          steps: size > allMax ? null : steps,
        });
      }
    });
  }
  return described;
}

type Part = { organizationId: string; bytes: number; part: ListedFlowDesign[] };

function toParts(flows: ListedFlowDesign[]): Part[] {
  const parts: Part[] = [];
  for (const flow of flows) {
    const last = parts.at(-1);
    if (last && last.bytes + flow.draft_bytes <= AT_ONCE_BYTES) {
      last.bytes += flow.draft_bytes;
      last.part.push(flow);
    } else parts.push({ organizationId: flow.organization_id, bytes: flow.draft_bytes, part: [flow] });
  }
  return parts;
}
