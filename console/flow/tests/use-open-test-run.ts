import { useNavigate, useSearch } from '@tanstack/react-router';

/** Reads and changes the open test run, which is a search parameter: `?run=<test_run_id>`. */
export function useOpenTestRun(): [string | undefined, (testRunId: string | undefined) => void] {
  const { run } = useSearch({ strict: false }) as { run?: unknown };
  const navigate = useNavigate();
  return [
    typeof run === 'string' ? run : undefined,
    (testRunId) =>
      void navigate({
        to: '.',
        search: ((search: object) => ({ ...search, run: testRunId })) as never,
        replace: true,
        resetScroll: false,
      }),
  ];
}
