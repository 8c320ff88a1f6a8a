import { z } from 'zod';
import { WEBHOOK_EVENTS } from '../../../flow/delivery.ts';
import { storedSteps } from '../../flows/schemas.ts';
import { parsedObject } from '../../flows/written-flow.ts';
import { attachmentsField } from './attachments.ts';
import { blockOverrides } from './requests.ts';
import { toolFields } from './tool-requests.ts';

const size = z.int().min(0);
const shown = 'null when its JSON has over 16 KiB: ask with `full=true`.';

export const runRequestRecord = z
  .object({
    message: z.string().nullable().meta({ description: shown }),
    parameters: parsedObject.nullable().meta({ description: shown }),
    block_overrides: blockOverrides.nullable().meta({ description: `By step_id. ${shown}` }),
    tools: toolFields.tools
      .unwrap()
      .nullable()
      .meta({ description: `Empty when there were none. ${shown}` }),
    bytes: z
      .object({ message: size, parameters: size, block_overrides: size, tools: size })
      .meta({ description: 'The size of each of these as JSON.' }),
    attachments: attachmentsField.unwrap(),
    maxCredits: z.number().nullable(),
    toolChoice: z.unknown().meta({ description: 'null when there was none.' }),
    requestId: z
      .string()
      .nullable()
      .meta({ description: 'The X-Request-Id of the answer; null when no request started the run.' }),
    callbackUrl: z.string().nullable(),
    callbackEvents: z.array(z.enum(WEBHOOK_EVENTS)).nullable(),
    modelKeyProviders: z.array(z.string()).meta({
      description: 'The providers for which the request brought keys (`X-Weir-Model-Key`).',
    }),
  })
  .meta({ id: 'RunRequest' });

export const runFlowRecord = z
  .object({
    flowId: z.uuid(),
    version: z.int().min(0).meta({ description: '0 is a draft.' }),
    steps: storedSteps,
  })
  .meta({ id: 'RunFlow' });
