// The endpoints that read and replace the draft of a flow.
import { z } from 'zod';
import { measureDraft } from '../../db/flows/flow-designs.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { loadProject } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext, ApiMiddleware, Route } from '../http/context.ts';
import { isNamed, requireMatch } from '../http/etag.ts';
import { readBody } from '../http/json-body.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { reserveAnswer } from '../http/reserve-bytes.ts';
import * as example from '../reference/flow-examples.ts';
import { CHANGED, etagOfWhat } from '../reference/if-match.ts';
import { FLOWS_PATH, PROJECT_ERRORS } from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body, errorAnswer, examplesOf } from '../reference/operations.ts';
import { assessDraft } from './assess-draft.ts';
import { requireFewSteps, requireSound, wrongDraft } from './draft-problems.ts';
import { findSchemaProblems } from './file-problems.ts';
import { draftETag } from './flow-etag.ts';
import { completeSteps } from './flow-file.ts';
import { getDraft, loadDraftOf, requireFlow, writeFlow } from './flow-of-path.ts';
import { findModelProviders } from './list-models.ts';
import { codeReaderOf } from './read-code-of.ts';
import { replaceDraft } from './recorded-flow-writes.ts';
import { draftRecord, replaceDraftRequest } from './schemas.ts';

const DRAFT_PATH = `${FLOWS_PATH}/:flow_id/draft`;
const common = { tags: ['Flows'] };
const shown = answer(
  'The draft.',
  draftRecord,
  { draft: example.draft },
  etagOfWhat('Names the steps that the draft has now.'),
);
const draftIfNoneMatch = z.object({
  'If-None-Match': z.string().optional().meta({ description: 'An ETag: 304 while the draft has it.' }),
});
const ifMatch = z.object({
  'If-Match': z.string().meta({
    description: 'The ETag of the draft that you have read, or `*` to replace whatever is there.',
  }),
});

export function draftRoutes(deps: ApiDeps): Route[] {
  const load = loadProject(deps, 'member');
  const toRead = [...identifyCaller(deps, 'read', 'deploy'), load];
  const toWrite = [...identifyCaller(deps, 'deploy'), load];
  return [
    {
      method: 'get',
      path: DRAFT_PATH,
      operation: {
        ...common,
        operationId: 'getDraft',
        summary: 'Read the draft of a flow',
        requestParams: { header: draftIfNoneMatch },
        responses: {
          200: shown,
          304: { description: 'The draft has the ETag that was sent.', headers: shown.headers },
          ...PROJECT_ERRORS,
        },
      },
      handlers: [...toRead, readDraft(deps)],
    },
    {
      method: 'put',
      path: DRAFT_PATH,
      operation: {
        ...common,
        operationId: 'replaceDraft',
        summary: 'Replace the draft of a flow',
        description:
          'The steps are checked as in a flow file. A draft may be incomplete: `problems` lists what must change before it can be published. Callers still run the same version.',
        requestParams: { header: ifMatch },
        requestBody: body(replaceDraftRequest, { draft: example.newDraft }),
        responses: {
          200: shown,
          ...PROJECT_ERRORS,
          ...BODY_ERRORS,
          400: errorAnswer(
            'The steps are wrong in a way that no addition could mend (`detail.problems`), or the request is not valid HTTP.',
            examplesOf(
              wrongDraft({ steps: [] }, [{ path: ['steps', 1, 'step_id'], message: 'Must be unique.' }]),
            ),
          ),
          ...CHANGED.draft,
          428: errorAnswer('The header If-Match is missing.', examplesOf(ifMatchMissing())),
        },
      },
      handlers: [
        ...toWrite,
        readBody(deps, replaceDraftRequest, { before: [requireFewSteps] }),
        putDraft(deps),
      ],
    },
  ];
}

function readDraft(deps: ApiDeps): ApiMiddleware {
  return async function readDraft(ctx) {
    const draft = await getDraft(deps, ctx);
    ctx.status = 200;
    const etag = draftETag(draft);
    ctx.set('ETag', etag);
    if (isNamed(ctx.get('If-None-Match'), etag)) ctx.status = 304;
    else ctx.body = await describeDraft(deps, ctx, draft);
  };
}

function putDraft(deps: ApiDeps): ApiMiddleware {
  return async function putDraft(ctx) {
    const match = ctx.get('If-Match');
    if (match === '') throw ifMatchMissing();
    const draft = completeSteps((ctx.state.body as z.output<typeof replaceDraftRequest>).steps);
    requireSound(draft);
    const { organization_id: organizationId } = ctx.state.project;
    // Before the flow is locked, because compiling JSON Schemas waits in the fair queue.
    const { requireValidSchema } = deps.validator.of(organizationId);
    const wrong = await findSchemaProblems(draft, requireValidSchema);
    if (wrong.length > 0) throw wrongDraft(draft, wrong);
    // Before the draft is written, so that a rejected request has written nothing.
    const { id } = await requireFlow(deps.db, ctx);
    const bytes = Buffer.byteLength(JSON.stringify(draft)) + (await measureDraft(deps.db, id));
    await reserveAnswer(deps, ctx, organizationId, bytes);
    const described = await describeDraft(deps, ctx, draft);
    await writeFlow(deps.db, ctx, async (tx, author, flow) => {
      const stored = draftETag(await loadDraftOf(tx, flow.id));
      requireMatch(match, stored, 'draft');
      if (draftETag(draft) !== stored) await replaceDraft(tx, author, flow, draft, { replaced: true });
    });
    ctx.set('ETag', draftETag(draft));
    ctx.body = described;
  };
}

async function describeDraft(deps: ApiDeps, ctx: ApiContext, draft: FlowDefinition) {
  const { organization_id: organizationId } = ctx.state.project;
  const readCode = codeReaderOf(deps, organizationId, readerSignal(ctx.res));
  const providers = await findModelProviders(deps, organizationId);
  return { steps: draft.steps, ...(await assessDraft(deps, providers, draft, readCode)) };
}

function ifMatchMissing(): ServiceError {
  return new ServiceError(
    'PRECONDITION_REQUIRED',
    'Send the ETag of the draft that you have read as If-Match, or * to replace whatever is there.',
  );
}
