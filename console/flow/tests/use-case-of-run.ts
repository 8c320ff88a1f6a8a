import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import { useFlow } from '../flow-context.ts';
import { type CaseDraft, getCaseOfRun } from './case-draft.ts';

/**
 * Opens a new test case with the input and result of the run in the address, `?from=<executionId>`. Returns the error
 * if that fails.
 */
export function useCaseOfRun(onRead: (start: CaseDraft) => void): Error | undefined {
  const { from } = useSearch({ strict: false }) as { from?: unknown };
  const { flow, org, project } = useFlow();
  const navigate = useNavigate();
  const [error, setError] = useState<Error>();
  const handled = useRef<string>(undefined);
  useEffect(() => {
    if (typeof from !== 'string' || handled.current === from) return;
    handled.current = from;
    const path = { org, project, flow: flow.slug, executionId: from };
    Promise.all([
      api.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/fork', {
        params: { path, query: { step: '0' } },
      }),
      api.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}', { params: { path } }),
    ])
      .then(([cursor, job]) => {
        const { message, parameters } = cursor.data ?? {};
        const input = { ...(message !== undefined && { message }), ...(parameters && { parameters }) };
        onRead(getCaseOfRun(input, job.data?.status === 'completed' ? job.data : undefined));
      })
      .catch(setError);
    void navigate({
      to: '.',
      search: ((search: object) => ({ ...search, from: undefined })) as never,
      replace: true,
    });
  });
  return error;
}
