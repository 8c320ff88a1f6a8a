import type { z } from 'zod';
import type { FlowSummary } from '../../db/flows/flow-summaries.ts';
import type { flowRecord } from './schemas.ts';

/** Describes a flow for responses. */
export function toFlowRecord(row: FlowSummary): z.input<typeof flowRecord> {
  return {
    id: row.id,
    projectId: row.project_id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    productionVersion: row.production_version,
    latestVersion: row.latest_version,
    draftIsProduction: row.draft_is_production === true,
    draftIsPublished: row.draft_is_latest === true,
    lastRun: toLastRun(row),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function toLastRun(row: FlowSummary): z.input<typeof flowRecord>['lastRun'] {
  const { last_run_id: executionId, last_run_status: status, last_run_started_at: startedAt } = row;
  if (!executionId || !status || !startedAt) return null;
  const code = status === 'failed' ? row.last_run_code : null;
  return { executionId, status, ...(code && { code }), startedAt: startedAt.toISOString() };
}
