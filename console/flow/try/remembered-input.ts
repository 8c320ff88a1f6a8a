import { EMPTY_INPUT, type TryInput } from './try-input.ts';

/** Reads the input that was typed for a flow in this tab. */
export function readInput(flowId: string): TryInput {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(keyOf(flowId)) ?? '{}');
    return { ...EMPTY_INPUT, ...(stored as Partial<TryInput>) };
  } catch {
    return EMPTY_INPUT;
  }
}

export function rememberInput(flowId: string, input: TryInput): void {
  try {
    sessionStorage.setItem(keyOf(flowId), JSON.stringify(input));
  } catch {
    // Input that does not fit into the storage is not kept.
  }
}

function keyOf(flowId: string): string {
  return `weir try ${flowId}`;
}
