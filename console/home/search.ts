export const SEARCH_MAX_LENGTH = 200;

type FlowsSearch = { search?: string | undefined; open?: 'new' | 'import' | undefined };

/** Reads the search text, and the dialog to open, from an address, which anyone may have written. */
export function readFlowsSearch({ search, open }: Record<string, unknown>): FlowsSearch {
  // The router parses a text of digits as a number.
  const text = typeof search === 'number' ? String(search) : search;
  return {
    ...(typeof text === 'string' && text !== '' && { search: text.slice(0, SEARCH_MAX_LENGTH) }),
    ...((open === 'new' || open === 'import') && { open }),
  };
}
