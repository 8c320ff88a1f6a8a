// The endpoints of a flow's versions: list, read, publish, and the one in production.
import { z } from 'zod';
import {
  getVersion,
  listVersions,
  measureVersion,
  tooManyVersions,
  versionNotFound,
} from '../../db/flows/versions.ts';
import { ServiceError } from '../../flow/errors.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { loadProject } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext, ApiMiddleware, Route } from '../http/context.ts';
import { requireMatch } from '../http/etag.ts';
import { takeIdempotencyKey } from '../http/idempotency-key.ts';
import { readBody } from '../http/json-body.ts';
import { type PageQuery, pageQuery, toPage } from '../http/page.ts';
import { readQuery } from '../http/query.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { reserveAnswer } from '../http/reserve-bytes.ts';
import * as example from '../reference/flow-examples.ts';
import { CHANGED } from '../reference/if-match.ts';
import { conflict, FLOWS_PATH, PROJECT_ERRORS } from '../reference/management-operations.ts';
import {
  answer,
  BODY_ERRORS,
  body,
  errorAnswer,
  examplesOf,
  VALIDATION_ERRORS,
} from '../reference/operations.ts';
import { assessDraft } from './assess-draft.ts';
import { requireComplete } from './draft-problems.ts';
import { draftETag } from './flow-etag.ts';
import { requireFlow, writeFlow } from './flow-of-path.ts';
import { findModelProviders } from './list-models.ts';
import { codeReaderAfterWrite } from './read-code-of.ts';
import { promoteFlow, publishChecked, publishFlow } from './recorded-flow-writes.ts';
import {
  productionRecord,
  productionRequest,
  publishRequest,
  versionDetail,
  versionList,
} from './schemas.ts';

const FLOW = `${FLOWS_PATH}/:flow_id`;
const VERSION_PATTERN = /^[1-9]\d{0,8}$/;
const listQuery = pageQuery(z.string().regex(VERSION_PATTERN, 'must be a nextCursor of this list'));
const common = { tags: ['Flows'] };
const ifMatch = z.object({
  'If-Match': z.string().optional().meta({
    description: 'The ETag of the draft that you mean to publish: 412 when it has changed.',
  }),
});
const one = answer('The version.', versionDetail, { version: example.version });
const same = answer(
  'The draft is the same as the latest version, which is returned with its note.',
  versionDetail,
  { version: example.version },
);

export function versionRoutes(deps: ApiDeps): Route[] {
  const load = loadProject(deps, 'member');
  const toRead = [...identifyCaller(deps, 'read', 'deploy'), load];
  const toWrite = [...identifyCaller(deps, 'deploy'), load];
  return [
    {
      method: 'post',
      path: `${FLOW}/versions`,
      operation: {
        ...common,
        operationId: 'publishVersion',
        summary: 'Publish the draft of a flow',
        description:
          'The draft becomes a version, which never changes. Callers run it once it is set as production.',
        requestParams: { header: ifMatch },
        requestBody: body(publishRequest, { note: example.publishing }),
        responses: {
          200: same,
          201: one,
          ...PROJECT_ERRORS,
          ...BODY_ERRORS,
          400: errorAnswer(
            'The draft is not complete (`detail.problems`), or the request is not valid HTTP.',
            {
              INVALID_TREE: example.incomplete,
            },
          ),
          ...conflict(
            'The flow has as many versions as it may (10,000), or they take as much room as they may (256 MiB).',
            tooManyVersions().message,
          ),
          ...CHANGED.draft,
        },
      },
      handlers: [...toWrite, readBody(deps, publishRequest), takeIdempotencyKey(deps), publish(deps)],
    },
    {
      method: 'get',
      path: `${FLOW}/versions`,
      operation: {
        ...common,
        operationId: 'listVersions',
        summary: 'List the versions of a flow, newest first',
        requestParams: { query: listQuery },
        responses: {
          200: answer('A page of versions.', versionList, { page: example.versionPage }),
          ...PROJECT_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...toRead, readQuery(listQuery), listPage(deps)],
    },
    {
      method: 'get',
      path: `${FLOW}/versions/:version`,
      operation: {
        ...common,
        operationId: 'getVersion',
        summary: 'Get a version of a flow',
        responses: { 200: one, ...PROJECT_ERRORS },
      },
      handlers: [...toRead, getOne(deps)],
    },
    {
      method: 'put',
      path: `${FLOW}/production`,
      operation: {
        ...common,
        operationId: 'setProduction',
        summary: 'Choose the version that callers run',
        description:
          'Calls that name no version run this one from now on; runs under way stay with theirs. A roll-back is the same call with an earlier version.',
        requestBody: body(productionRequest, { version: { version: 2 } }),
        responses: {
          200: answer('The version is in production.', productionRecord, {
            production: { version: 2, previousVersion: 3 },
          }),
          ...PROJECT_ERRORS,
          404: errorAnswer('The flow is unknown, or has no such version.', examplesOf(versionNotFound(2))),
          ...BODY_ERRORS,
        },
      },
      handlers: [...toWrite, readBody(deps, productionRequest), setProduction(deps)],
    },
  ];
}

function publish(deps: ApiDeps): ApiMiddleware {
  return async function publish(ctx) {
    const { note } = ctx.state.body as z.output<typeof publishRequest>;
    ctx.state.releaseBody();
    const { organization_id: organizationId } = ctx.state.project;
    const { id } = await requireFlow(deps.db, ctx);
    const gone = readerSignal(ctx.res);
    const earlier = ctx.state.keyed?.earlier?.result as Awaited<ReturnType<typeof publishFlow>> | undefined;
    const { version, isNew } =
      earlier ??
      (await publishChecked(deps, { id, organizationId }, gone, {
        hold: (bytes) => reserveAnswer(deps, ctx, organizationId, bytes),
        check(draft) {
          requireMatch(ctx.get('If-Match'), draftETag(draft), 'draft');
          return requireComplete(deps, organizationId, draft, gone);
        },
        publish: (checked) =>
          writeFlow(deps.db, ctx, (tx, author, flow) => publishFlow(tx, author, flow, note, checked)),
      }));
    ctx.status = isNew ? 201 : 200;
    const { definition } = await answerVersion(deps, ctx, version);
    const providers = await findModelProviders(deps, organizationId);
    const readCode = codeReaderAfterWrite(deps, organizationId);
    const { notes } = await assessDraft(deps, providers, definition, readCode);
    ctx.body = { ...(ctx.body as object), notes };
  };
}

function listPage({ db }: ApiDeps): ApiMiddleware {
  return async function listPage(ctx) {
    const { limit, cursor } = ctx.state.query as PageQuery;
    const flow = await requireFlow(db, ctx);
    const before = cursor === undefined ? undefined : Number(cursor);
    const rows = await listVersions(db, flow.id, { before, limit: limit + 1 });
    const { page, end } = toPage(rows, limit, ({ version }) => String(version));
    ctx.body = { versions: page.map((row) => describe(row, flow)), ...end };
  };
}

function getOne(deps: ApiDeps): ApiMiddleware {
  return async function getOne(ctx) {
    await answerVersion(deps, ctx, versionOf(ctx));
  };
}

/** Answers with a version of the flow in the path, after reserving memory for it. */
async function answerVersion(deps: ApiDeps, ctx: ApiContext, version: number) {
  const flow = await requireFlow(deps.db, ctx);
  const bytes = await measureVersion(deps.db, flow.id, version);
  await reserveAnswer(deps, ctx, ctx.state.project.organization_id, bytes);
  const found = await getVersion(deps.db, flow.id, version);
  ctx.body = describe(found, flow);
  return found;
}

function setProduction(deps: ApiDeps): ApiMiddleware {
  return async function setProduction(ctx) {
    const { version } = ctx.state.body as z.output<typeof productionRequest>;
    const previousVersion = await writeFlow(deps.db, ctx, async (tx, author, flow) => {
      if (flow.production_version !== version) await promoteFlow(tx, author, flow, version);
      return flow.production_version;
    });
    ctx.body = { version, previousVersion };
  };
}

function versionOf({ params: { version = '' } }: ApiContext): number {
  if (VERSION_PATTERN.test(version)) return Number(version);
  throw new ServiceError('NOT_FOUND', 'The number of a version is a whole number from 1.');
}

type VersionRow = Awaited<ReturnType<typeof listVersions>>[number];

/** Describes a version; for a row with a definition, includes the steps. */
function describe(
  { version, note, created_at, published_by, definition }: VersionRow & { definition?: { steps: unknown } },
  flow: { production_version: number | null },
) {
  return {
    version,
    note,
    isProduction: version === flow.production_version,
    publishedAt: created_at.toISOString(),
    publishedBy: published_by,
    ...(definition && { steps: definition.steps }),
  };
}
