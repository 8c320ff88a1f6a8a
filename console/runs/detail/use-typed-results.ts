import { useState } from 'react';

type Typed = { name: string; text: string };

/** Typed tool results that were not sent, by tool call id, with the name of the function. */
export type TypedResults = {
  results: Record<string, Typed>;
  type: (callId: string, typed: Typed) => void;
  drop: (callIds: string[]) => void;
};

/** Keeps typed tool results while the page of the run is open. */
export function useTypedResults(executionId: string): TypedResults {
  const [typed, setTyped] = useState<Record<string, Record<string, Typed>>>({});
  const change = (edit: (results: Record<string, Typed>) => Record<string, Typed>) =>
    setTyped((all) => ({ ...all, [executionId]: edit(all[executionId] ?? {}) }));
  return {
    results: typed[executionId] ?? {},
    type: (callId, result) => change((results) => ({ ...results, [callId]: result })),
    drop: (callIds) =>
      change((results) =>
        Object.fromEntries(Object.entries(results).filter(([callId]) => !callIds.includes(callId))),
      ),
  };
}
