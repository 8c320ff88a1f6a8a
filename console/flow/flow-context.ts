import { createContext, useContext } from 'react';
import type { Schemas } from '../api/client.ts';

/** The current flow, and the slugs of its address. */
type FlowHere = { flow: Schemas['Flow']; org: string; project: string; projectId: string };

export const FlowContext = createContext<FlowHere | undefined>(undefined);

/** Returns the current flow. Throws outside the pages of a flow. */
export function useFlow(): FlowHere {
  const here = useContext(FlowContext);
  if (!here) throw new Error('useFlow is for the pages of a flow, inside FlowPage.');
  return here;
}
