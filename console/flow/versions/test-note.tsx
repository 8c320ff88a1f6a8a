import { Link } from '@tanstack/react-router';
import { $api } from '../../api/client.ts';
import { Note } from '../../ui/note.tsx';
import { Time } from '../../ui/time.tsx';
import { useFlow } from '../flow-context.ts';

/** Says that the flow has test cases, which publishing does not run, and how they ended last. Nothing when it has none. */
export function TestNote() {
  const { flow, org, project, projectId } = useFlow();
  const path = { project_id: projectId, flow_id: flow.id };
  const cases = $api.useQuery('get', '/api/v1/projects/{project_id}/flows/{flow_id}/test-cases', {
    params: { path, query: { limit: 1 } },
  });
  const runs = $api.useQuery('get', '/api/v1/projects/{project_id}/flows/{flow_id}/test-runs', {
    params: { path, query: { limit: 1 } },
  });
  if (!cases.data || cases.data.test_cases.length === 0) return null;
  const last = runs.data?.test_runs[0];
  return (
    <Note tone={last && last.passed === last.total ? 'idle' : 'warn'}>
      The flow has test cases, which publishing does not run.{' '}
      {last && (
        <>
          The last test run, <Time at={last.started_at} />: {last.passed} of {last.total} passed; the draft
          may have changed since.{' '}
        </>
      )}
      <Link to="/orgs/$org/projects/$project/flows/$flow/tests" params={{ org, project, flow: flow.slug }}>
        Run them on the draft
      </Link>
    </Note>
  );
}
