import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { api } from '../../api/client.ts';
import { useFlow } from '../flow-context.ts';
import { type TryInput, toTryInput } from './try-input.ts';

/** Loads the input of the run in the address, `?input=<executionId>`, a link on the page of a run. */
export function useInputOfRun(onRead: (input: TryInput) => void, onRefused: (error: Error) => void): void {
  const { input } = useSearch({ strict: false }) as { input?: unknown };
  const { flow, org, project } = useFlow();
  const navigate = useNavigate();
  const handled = useRef<string>(undefined);
  useEffect(() => {
    if (typeof input !== 'string' || handled.current === input) return;
    handled.current = input;
    const path = { org, project, flow: flow.slug, executionId: input };
    api
      .GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/request', {
        params: { path, query: { full: true } },
      })
      .then(({ data }) => data && onRead(toTryInput(data)), onRefused);
    const search = (({ input: _, ...rest }: Record<string, unknown>) => rest) as never;
    void navigate({ to: '.', search, replace: true });
  });
}
