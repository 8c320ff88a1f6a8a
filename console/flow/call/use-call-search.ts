import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Language, Way } from './call-snippets.ts';

type Search = { way: Way; language: Language; pinned: number | undefined };

/** Reads and changes the choices of the page, which are search parameters: `?way=jobs&language=python&pinned=3`. */
export function useCallSearch(): [Search, (changed: Partial<Search>) => void] {
  const { way, language, pinned } = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const search: Search = {
    way: oneOf(way, ['execute', 'jobs', 'step', 'webhook']),
    language: oneOf(language, ['curl', 'typescript', 'python']),
    pinned: Number.isInteger(Number(pinned)) && Number(pinned) > 0 ? Number(pinned) : undefined,
  };
  return [
    search,
    (changed) =>
      void navigate({
        to: '.',
        search: ((before: object) => ({ ...before, ...changed })) as never,
        replace: true,
        resetScroll: false,
      }),
  ];
}

function oneOf<T extends string>(value: unknown, allowed: [T, ...T[]]): T {
  return allowed.find((one) => one === value) ?? allowed[0];
}
