import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useDraft } from '../draft/draft-context.ts';
import { type TryInput, toText } from './try-input.ts';
import { toPlan } from './try-run.ts';
import type { TryStore } from './try-store.ts';

/**
 * Starts a session when the address asks for it: `?fork=<executionId>&at=<step index>`, a link on the page of a run.
 */
export function useFork(
  store: TryStore,
  onForked: (input: Partial<TryInput>) => void,
  onRefused: (error: Error) => void,
): void {
  const { fork, at } = useSearch({ strict: false }) as { fork?: string; at?: number };
  const { steps } = useDraft();
  const navigate = useNavigate();
  const handled = useRef<string>(undefined);
  useEffect(() => {
    if (!fork || handled.current === fork) return;
    handled.current = fork;
    store
      .fork(fork, Number(at ?? 0), toPlan(steps))
      .then(({ message, parameters }) => onForked({ message, parameters: toText(parameters) }), onRefused);
    const search = (({ fork: _, at: __, ...rest }: Record<string, unknown>) => rest) as never;
    void navigate({ to: '.', search, replace: true });
  });
}
