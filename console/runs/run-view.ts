/** Names the block execution that the reader looks at on the page of a run, and whether on the graph. */
export type RunView = {
  /** The key of the block execution, such as `step#0`; the run itself when absent. */
  block?: string;
  /** The call that executed it, where the last one is not meant. */
  call?: string;
  view?: 'graph';
};

const KEY_LENGTH_MAX = 1_000;

/** Reads it from an address that anyone may have written. */
export function parseRunView({ block, call, view }: Record<string, unknown>): RunView {
  // A key of digits alone is read as a number from the address.
  const key = typeof block === 'number' ? String(block) : block;
  return {
    ...(typeof key === 'string' && key !== '' && key.length <= KEY_LENGTH_MAX && { block: key }),
    ...(typeof call === 'string' && /^[0-9a-f-]{36}$/.test(call) && { call }),
    ...(view === 'graph' && { view }),
  };
}
