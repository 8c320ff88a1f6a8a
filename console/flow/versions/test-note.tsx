import { Link } from '@tanstack/react-router';
import { $api } from '../../api/client.ts';
import { refetchAfter } from '../../api/refetch-after.ts';
import { Note } from '../../ui/note.tsx';
import { Time } from '../../ui/time.tsx';
import { useFlow } from '../flow-context.ts';
import { isAnyPending, sumUpResults } from '../tests/last-results.ts';

/** The most that a flow can have. */
const CASES_MAX = 200;
const TESTS_POLL_MS = 5_000;

/** Says that publishing does not run the test cases, with their last results; nothing when there are none. */
export function TestNote() {
  const { flow, org, project, projectId } = useFlow();
  const { data } = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/flows/{flow_id}/test-cases',
    {
      params: { path: { project_id: projectId, flow_id: flow.id }, query: { limit: CASES_MAX } },
    },
    {
      refetchInterval: (query) =>
        refetchAfter(query, isAnyPending(query.state.data?.test_cases) && TESTS_POLL_MS),
    },
  );
  if (!data || data.test_cases.length === 0) return null;
  const last = sumUpResults(data.test_cases);
  return (
    <Note tone={last?.haveAllPassed ? 'idle' : 'warn'}>
      The flow has test cases, which publishing does not run.{' '}
      {last && (
        <>
          Their last results, the latest of <Time at={last.latest} />: {last.words}; the draft may have
          changed since.{' '}
        </>
      )}
      <Link to="/orgs/$org/projects/$project/flows/$flow/tests" params={{ org, project, flow: flow.slug }}>
        Run them on the draft
      </Link>
    </Note>
  );
}
