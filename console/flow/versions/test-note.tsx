import { Link } from '@tanstack/react-router';
import { $api } from '../../api/client.ts';
import { Note } from '../../ui/note.tsx';
import { useFlow } from '../flow-context.ts';

/** Says that the flow has test cases, which publishing does not run. Nothing when it has none. */
export function TestNote() {
  const { flow, org, project, projectId } = useFlow();
  const { data } = $api.useQuery('get', '/api/v1/projects/{project_id}/flows/{flow_id}/test-cases', {
    params: { path: { project_id: projectId, flow_id: flow.id } },
  });
  if (!data || data.test_cases.length === 0) return null;
  return (
    <Note>
      The flow has test cases, which publishing does not run.{' '}
      <Link to="/orgs/$org/projects/$project/flows/$flow/tests" params={{ org, project, flow: flow.slug }}>
        Run them on the draft
      </Link>
    </Note>
  );
}
