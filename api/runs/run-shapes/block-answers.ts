// Shapes of block executions in responses: the receipt of a run, and the values of one block.
import { z } from 'zod';
import { parsedJson } from '../../flows/written-flow.ts';
import { pageOf } from '../../http/page-schema.ts';
import { blockRun } from './receipt.ts';

/** Smaller values are included in the response. */
export const SHOWN_MAX_BYTES = 16_384;

const size = z.int().min(0);
const shown = (text: string) =>
  parsedJson.meta({ description: `${text} null when its JSON has over 16 KiB: ask for it alone.` });

const tracedBlock = blockRun
  .extend({
    callId: z.uuid().meta({
      description: 'The call of the run that executed it: its first one has the executionId of the run.',
    }),
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime(),
  })
  .meta({ id: 'TracedBlock', description: 'One execution of a block.' });

export const tracedBlocks = pageOf('TracedBlocks', 'blocks', tracedBlock);

/** One of the values alone. */
export const blockValue = parsedJson.meta({ id: 'BlockValue', description: 'Any JSON.' });

/** A signed URL of an output. */
export const outputUrl = z
  .object({
    url: z.url().nullable().meta({
      description:
        'Anybody who has it may read the output, until `expiresAt`. null when the output is not in an object store: ask for …/output.',
    }),
    expiresAt: z.iso.datetime().nullable(),
    outputBytes: size.meta({ description: 'The size of the output.' }),
  })
  .meta({ id: 'OutputUrl' });

export const blockDetail = tracedBlock
  .extend({
    input: shown('The input of the block.'),
    inputBytes: size.meta({ description: 'The size of the input as JSON.' }),
    sent: shown(
      'llm: the request to the model, without the messages that ask it to repair its answer. code: the source. passthrough: null.',
    ),
    sentBytes: size.meta({ description: 'The size of that; 0 when nothing is sent.' }),
    output: shown('The output of the block; null when it failed.'),
    outputBytes: size.meta({ description: 'The size of the output; 0 when there is none.' }),
  })
  .meta({ id: 'BlockDetail' });
