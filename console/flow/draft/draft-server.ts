import { ApiError, isMissing } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import type { DraftServer, SaveResult, ServerDraft } from './draft-state.ts';
import { toSteps } from './steps.ts';

type DraftResponse = Omit<ServerDraft, 'etag' | 'steps'> & { steps: Parameters<typeof toSteps>[0] };
type Reported = { path?: string; field?: string; message: string };

/** Reads and saves the draft of a flow at the service. */
export function draftServer(project_id: string, flow_id: string): DraftServer {
  const path = '/api/v1/projects/{project_id}/flows/{flow_id}/draft';
  return {
    async read(etag) {
      const header = etag === undefined ? {} : { 'If-None-Match': etag };
      const { data, response } = await api.GET(path, { params: { path: { project_id, flow_id }, header } });
      return data && toDraft(data, response);
    },
    async save(steps, etag) {
      try {
        const { data, response } = await api.PUT(path, {
          params: { path: { project_id, flow_id }, header: { 'If-Match': etag } },
          // The generated types discriminate steps differently than the API does.
          body: { steps: steps as never },
        });
        return { type: 'saved', draft: toDraft(data as DraftResponse, response) };
      } catch (error) {
        return toResult(error);
      }
    },
  };
}

function toDraft({ steps, problems, notes }: DraftResponse, response: Response): ServerDraft {
  return { steps: toSteps(steps), problems, notes, etag: response.headers.get('etag') ?? '' };
}

function toResult(error: unknown): SaveResult {
  if (!(error instanceof ApiError))
    return { type: 'failed', message: error instanceof Error ? error.message : String(error) };
  const { status, message, detail } = error;
  if (status === 412) return { type: 'changed' };
  if (isMissing(error)) return { type: 'deleted' };
  // The next save finds out whether this one was carried out.
  if (status === 0) return { type: 'failed', message: 'The service cannot be reached.' };
  if (status === 408 || status === 429 || status >= 500) return { type: 'failed', message };
  const reported = (detail.problems ?? detail.errors ?? []) as Reported[];
  const problems = reported.map((problem) => ({
    path: problem.path ?? problem.field ?? '',
    message: problem.message,
  }));
  return { type: 'refused', message, problems };
}
