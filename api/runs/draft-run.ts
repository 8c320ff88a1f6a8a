import { identifyCaller } from '../auth/identify-caller.ts';
import { loadProject } from '../auth/load-project.ts';
import type { ApiDeps } from '../deps.ts';
import type { Route } from '../http/context.ts';
import { FLOWS_PATH } from '../reference/management-operations.ts';
import { body, runAnswer } from '../reference/operations.ts';
import { accepted, imageRequest, overridingRequest, runRequest } from '../reference/run-examples.ts';
import { ifMatchDraft, loadDraft } from './calls/load-draft.ts';
import { modelKeyHeaders } from './calls/read-model-keys.ts';
import { jobErrors, jobHandlers } from './jobs.ts';
import { jobAccepted } from './run-shapes/answers.ts';
import { idempotencyHeaders, jobRequest } from './run-shapes/requests.ts';

const headers = idempotencyHeaders.extend({ ...modelKeyHeaders.shape, ...ifMatchDraft.shape });

export function draftRunRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'post',
      path: `${FLOWS_PATH}/:flow_id/draft/runs`,
      operation: {
        operationId: 'runDraft',
        summary: 'Start a run of the draft of a flow',
        description:
          'The draft has to be complete. The run has version 0 and environment `test`, keeps the draft as it is now, and costs what any run costs. Follow it, read it and cancel it as a job: `GET …/jobs/{executionId}`.',
        tags: ['Execution'],
        requestParams: { header: headers },
        requestBody: body(jobRequest, {
          message: runRequest,
          overrides: overridingRequest,
          images: imageRequest,
        }),
        responses: {
          202: runAnswer('The run is accepted.', jobAccepted, { accepted }),
          ...jobErrors('draft'),
        },
      },
      handlers: [
        ...identifyCaller(deps, 'deploy'),
        loadProject(deps, 'member'),
        loadDraft(deps),
        ...jobHandlers(deps),
      ],
    },
  ];
}
