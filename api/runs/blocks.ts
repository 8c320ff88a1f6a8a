// GET …/jobs/{executionId}/blocks, …/blocks/{key} and …/output/url: the trace of a run.
import { z } from 'zod';
import {
  type BlockTraceRow,
  type FoundBlock,
  findBlockTrace,
  findOutputObject,
  listBlockPage,
} from '../../db/runs/block-traces.ts';
import { objectStoreOf } from '../../db/stored-values/store-object.ts';
import type { BlockId } from '../../db/stored-values/stored-outputs.ts';
import type { KeptAnswer } from '../../flow/model-call.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext, ApiMiddleware, Route } from '../http/context.ts';
import { answerWithETag, ifNoneMatch } from '../http/etag.ts';
import { type PageQuery, pageQuery, toPage } from '../http/page.ts';
import { readQuery } from '../http/query.ts';
import { unknownCursor } from '../http/request-errors.ts';
import { reserveAnswer } from '../http/reserve-bytes.ts';
import { answerJson, JsonText } from '../http/write-json.ts';
import { answer, pageWithETag } from '../reference/operations.ts';
import { blockExample, blockPage, outputUrlExample, sentExample } from '../reference/run-examples.ts';
import {
  BLOCK,
  BLOCK_ERRORS,
  BLOCK_VALUES,
  BLOCKS,
  type BlockValue,
  blockQuery,
  getBlockTrace,
  LIST_ERRORS,
  measureBlockValues,
  readBlockValue,
  valueNotFound,
} from './block-values.ts';
import { loadFlowIds, loadRun } from './calls/load-flow.ts';
import {
  blockDetail,
  blockValue,
  describeBlockExecution,
  describeFailedAttempts,
  noteModels,
  outputUrl,
  SHOWN_MAX_BYTES,
  tracedBlocks,
} from './run-shapes/block-answers.ts';

/** A URL is small, however large the output. */
const { 413: _, ...ERRORS } = BLOCK_ERRORS;

const CURSOR = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):([^\0]{1,1000})$/;
const listQuery = pageQuery(z.string().regex(CURSOR, 'must be a nextCursor of this list'));
const VALUE_OF: { [value in BlockValue]: string } = {
  input: 'the input of a block of a run',
  sent: 'what a block of a run sent to its model, or the code that it ran',
  output: 'the output of a block of a run',
};

/** Lists the endpoints that show what each block of a run got, sent and answered. */
export function blockRoutes(deps: ApiDeps): Route[] {
  const first = [
    ...identifyCaller(deps, 'run', 'read'),
    loadFlowIds(deps, { deletedToo: true }),
    loadRun(deps),
  ];
  const list: Route = {
    method: 'get',
    path: BLOCKS,
    operation: {
      operationId: 'listBlocks',
      summary: 'List the block executions of a run, in the order they started',
      tags: ['Execution'],
      requestParams: { query: listQuery, header: ifNoneMatch },
      responses: {
        ...pageWithETag('A page of block executions.', tracedBlocks, { page: blockPage }),
        ...LIST_ERRORS,
      },
    },
    handlers: [...first, readQuery(listQuery), listBlocks(deps)],
  };
  const block: Route = {
    method: 'get',
    path: BLOCK,
    operation: {
      operationId: 'getBlock',
      summary: 'Get what a block of a run got, sent and answered',
      tags: ['Execution'],
      requestParams: { query: blockQuery },
      responses: {
        200: answer('The block execution.', blockDetail, { block: blockExample }),
        ...BLOCK_ERRORS,
      },
    },
    handlers: [...first, readQuery(blockQuery), getBlock(deps)],
  };
  const values = BLOCK_VALUES.map((value): Route => {
    const name = value[0]?.toUpperCase() + value.slice(1);
    return {
      method: 'get',
      path: `${BLOCK}/${value}`,
      operation: {
        operationId: `getBlock${name}`,
        summary: `Get ${VALUE_OF[value]}, whatever its size`,
        tags: ['Execution'],
        requestParams: { query: blockQuery },
        responses: { 200: answer('The value.', blockValue, { value: sentExample }), ...BLOCK_ERRORS },
      },
      handlers: [...first, readQuery(blockQuery), getValue(deps, value)],
    };
  });
  return [list, block, ...values];
}

function listBlocks({ db, registry }: ApiDeps): ApiMiddleware {
  return async function listBlocks(ctx) {
    const { limit, cursor } = ctx.state.query as PageQuery;
    const id = ctx.state.run.execution_id;
    const after = cursor === undefined ? undefined : toBlockId(cursor);
    if (after && !(await findBlockTrace(db, id, after.blockKey, after.callId))) throw unknownCursor();
    const rows = await listBlockPage(db, id, { after, limit: limit + 1 });
    const { page, end } = toPage(rows, limit, (row) => `${row.execution_id}:${row.block_key}`);
    answerWithETag(ctx, { blocks: page.map(describe), ...noteModels({ registry }, page), ...end });
  };
}

function getBlock(deps: ApiDeps): ApiMiddleware {
  return async function getBlock(ctx) {
    const row = await getBlockTrace(deps, ctx);
    const texts = await readValues(deps, ctx, row, BLOCK_VALUES);
    const members = BLOCK_VALUES.flatMap((value, index): [string, unknown][] => {
      const text = texts[index];
      const bytes = text === undefined ? 0 : Buffer.byteLength(text);
      const shown = text === undefined || bytes > SHOWN_MAX_BYTES ? null : new JsonText(text);
      return [
        [value, shown],
        [`${value}Bytes`, bytes],
      ];
    });
    const { last_answer: kept, logs, failed_attempts: failed } = row;
    answerJson(ctx, {
      ...describe(row),
      ...Object.fromEntries(members),
      ...describeAnswer(kept),
      ...(logs && { logs }),
      ...(failed && { failedAttempts: describeFailedAttempts(failed) }),
    });
  };
}

/** The reasoning of an answer is shown beside it. */
function describeAnswer(kept: KeptAnswer | null) {
  const { reasoning, ...lastAnswer } = kept ?? {};
  return {
    ...(lastAnswer.text !== undefined && { lastAnswer }),
    ...(reasoning !== undefined && { reasoning }),
  };
}

function getValue(deps: ApiDeps, value: BlockValue): ApiMiddleware {
  return async function getValue(ctx) {
    const row = await getBlockTrace(deps, ctx);
    const [text] = await readValues(deps, ctx, row, [value]);
    if (text === undefined) throw valueNotFound(row, value);
    answerJson(ctx, new JsonText(text));
  };
}

/** Reads values after reserving the organization's memory for them. */
async function readValues(
  deps: ApiDeps,
  ctx: ApiContext,
  row: FoundBlock,
  values: readonly BlockValue[],
): Promise<(string | undefined)[]> {
  const bytes = await measureBlockValues(deps, row, values);
  await reserveAnswer(deps, ctx, ctx.state.flowIds.organizationId, bytes);
  const texts: (string | undefined)[] = [];
  for (const value of values) texts.push(await readBlockValue(deps, row, value));
  return texts;
}

function describe(row: BlockTraceRow) {
  return {
    ...describeBlockExecution(row),
    callId: row.execution_id,
    startedAt: row.started_at.toISOString(),
    finishedAt: row.finished_at.toISOString(),
  };
}

function toBlockId(cursor: string): BlockId {
  const [, callId = '', blockKey = ''] = CURSOR.exec(cursor) ?? [];
  return { callId, blockKey };
}

/** Lists the endpoint that signs URLs of outputs. */
export function outputUrlRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: `${BLOCK}/output/url`,
      operation: {
        operationId: 'getBlockOutputUrl',
        summary: 'Get a URL for the output of a block of a run, where that is in an object store',
        tags: ['Execution'],
        requestParams: { query: blockQuery },
        responses: { 200: answer('The URL.', outputUrl, { url: outputUrlExample }), ...ERRORS },
      },
      handlers: [
        ...identifyCaller(deps, 'run', 'read'),
        loadFlowIds(deps, { deletedToo: true }),
        loadRun(deps),
        readQuery(blockQuery),
        getOutputUrl(deps),
      ],
    },
  ];
}

/** Signs a URL that is valid for five minutes. Readers of the output may pass it on. */
function getOutputUrl(deps: ApiDeps): ApiMiddleware {
  return async function getOutputUrl(ctx) {
    const row = await getBlockTrace(deps, ctx);
    if (row.output_bytes === 0) throw valueNotFound(row, 'output');
    const object = await findOutputObject(deps.db, { callId: row.execution_id, blockKey: row.block_key });
    const signed = object && (await objectStoreOf(deps.db).sign(object));
    ctx.body = {
      url: signed?.url ?? null,
      expiresAt: signed?.expiresAt.toISOString() ?? null,
      outputBytes: row.output_bytes,
    };
  };
}
