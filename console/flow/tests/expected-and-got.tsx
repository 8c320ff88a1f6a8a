import { $api } from '../../api/client.ts';
import { CodeDifference } from '../../ui/code-editor/code-difference.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useFlow } from '../flow-context.ts';
import { describeExpectation, type Expectation } from './expectation.ts';
import style from './tests.module.css';

const COMPARED_MAX_CHARS = 200_000;

/** Compares the current expectation of a test case with the answer of a run; as a difference when both are values. */
export function ExpectedAndGot({ testCaseId, executionId }: { testCaseId: string; executionId: string }) {
  const { flow, org, project, projectId } = useFlow();
  const testCase = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/flows/{flow_id}/test-cases/{test_case_id}',
    { params: { path: { project_id: projectId, flow_id: flow.id, test_case_id: testCaseId } } },
  );
  const job = $api.useQuery('get', '/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}', {
    params: { path: { org, project, flow: flow.slug, executionId } },
  });
  return (
    <QueryView query={job}>
      {(run) => (
        <QueryView query={testCase}>
          {(stored) => {
            const expectation = stored.expectation as Expectation;
            const got = run.status === 'completed' ? run.result : undefined;
            const texts =
              expectation.type === 'equals' && run.status === 'completed'
                ? [expectation.value, got].map((value) => JSON.stringify(value, null, 2))
                : undefined;
            if (texts?.every((text) => text.length <= COMPARED_MAX_CHARS))
              return (
                <div className={style.compared}>
                  <h4>Expected, and got</h4>
                  <CodeDifference
                    label="Expected, and got"
                    before={texts[0] ?? ''}
                    after={texts[1] ?? ''}
                    language="json"
                  />
                </div>
              );
            return (
              <div className={style.compared}>
                <h4>Expected</h4>
                <p className={style.soft}>{describeExpectation(expectation).slice(0, 2_000)}</p>
                <h4>Got</h4>
                {run.status === 'completed' ? (
                  <JsonView value={got} label="Answer" />
                ) : (
                  <p className={style.why}>{run.status === 'failed' ? run.errorMessage : 'No answer.'}</p>
                )}
              </div>
            );
          }}
        </QueryView>
      )}
    </QueryView>
  );
}
