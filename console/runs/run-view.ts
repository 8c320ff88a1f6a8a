/** The search parameters of a run's page: the selected block execution and the view. */
export type RunView = {
  /** The key of the block execution, such as `step#0`; without one the run itself is selected. */
  block?: string;
  /** The call of the execution, unless it is the last one with this key. */
  call?: string;
  view?: 'graph';
};

const KEY_LENGTH_MAX = 1_000;

/** Reads the search parameters from an address, which anyone may have written. */
export function parseRunView({ block, call, view }: Record<string, unknown>): RunView {
  // The router parses a key of digits as a number.
  const key = typeof block === 'number' ? String(block) : block;
  return {
    ...(typeof key === 'string' && key !== '' && key.length <= KEY_LENGTH_MAX && { block: key }),
    ...(typeof call === 'string' && /^[0-9a-f-]{36}$/.test(call) && { call }),
    ...(view === 'graph' && { view }),
  };
}
