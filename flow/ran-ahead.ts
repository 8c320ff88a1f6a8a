// The reply of an activity that runs several blocks of a run.
import type { HandedOver } from './model-call.ts';
import type { Pause } from './tool-calls.ts';
import type { Value } from './value.ts';

/**
 * The reply of a block whose activity ran some of the next ones too: the outputs of all of them in order, of which each refers to
 * its block. The one after these may have `failed`, or be `unfinished`: begun, or without room.
 */
export type RanAhead = {
  outputs: Value[];
  failed?: { blockKey: string; type: string; message: string };
  unfinished?: { blockKey: string; reply: Unfinished };
};
export type Unfinished = Pause | HandedOver;

export function hasRunAhead(reply: object): reply is RanAhead {
  return 'outputs' in reply;
}
