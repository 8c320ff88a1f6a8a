import { z } from 'zod';
import { type FoundBlock, findBlockTrace } from '../../db/runs/block-traces.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext } from '../http/context.ts';
import { errorAnswer, examplesOf, RUN_PATH, VALIDATION_ERRORS } from '../reference/operations.ts';
import { flowNotFound } from './calls/load-flow.ts';
import { runOfFlowNotFound } from './load-run.ts';
import type { BlockValue } from './read-block-values.ts';
import { OUTPUT_ERROR_EXAMPLE, READ_ERRORS } from './run-errors.ts';

export const BLOCKS = `${RUN_PATH}/blocks`;
export const BLOCK = `${BLOCKS}/:key`;

export const blockQuery = z.strictObject({
  call: z.uuid().optional().meta({
    description:
      'The callId of an earlier execution: a session and a resume may execute a block again. The last one without it.',
  }),
});

export const LIST_ERRORS = { ...READ_ERRORS, ...VALIDATION_ERRORS };
export const BLOCK_ERRORS = {
  ...LIST_ERRORS,
  404: {
    id: 'BlockNotFound',
    ...errorAnswer(
      'The run has no such block execution, or is unknown as its flow may be.',
      examplesOf(blockNotFound(), flowNotFound(), runOfFlowNotFound()),
    ),
  },
  413: {
    id: 'BlockTooLarge',
    ...errorAnswer('The block read more than outputs may have together.', OUTPUT_ERROR_EXAMPLE),
  },
};

/** Gets the block execution in a path and its query. Throws NOT_FOUND. */
export async function getBlockTrace({ db }: ApiDeps, { state, params }: ApiContext): Promise<FoundBlock> {
  const { call } = state.query as z.infer<typeof blockQuery>;
  const { key = '' } = params;
  const row = key.includes('\0') ? undefined : await findBlockTrace(db, state.run.execution_id, key, call);
  if (!row) throw blockNotFound();
  return row;
}

/** The error for a value that a block execution does not have. */
export function valueNotFound({ step_id }: FoundBlock, value: BlockValue): ServiceError {
  return new ServiceError('NOT_FOUND', `This execution of ${step_id} has no ${value}.`);
}

function blockNotFound(): ServiceError {
  return new ServiceError(
    'NOT_FOUND',
    'This run has executed no block with that key. A block is listed among those of its run, with its key, once it has ended.',
  );
}
