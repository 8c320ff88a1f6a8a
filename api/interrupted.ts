// How a stream of Server-Sent Events ends before what it tells of does.
import { z } from 'zod';

const INTERRUPTIONS = {
  stopping: 'This process is stopping, what it tells of goes on: ask again, with Last-Event-ID.',
  unavailable: 'What follows cannot be read just now: ask again, with Last-Event-ID.',
  unauthorized: 'The API key, the token or the membership that this was asked with is no longer valid.',
};

/** Ends a stream, which says why. */
export class Interrupted extends Error {
  readonly reason: keyof typeof INTERRUPTIONS;
  constructor(reason: keyof typeof INTERRUPTIONS) {
    super(INTERRUPTIONS[reason]);
    this.reason = reason;
  }
}

/** The `data` of `stream_interrupted`. That event has no `id`: the last event of the stream stays the one before it. */
export const streamInterrupted = z
  .object({
    executionId: z.uuid(),
    reason: z.enum(Object.keys(INTERRUPTIONS) as (keyof typeof INTERRUPTIONS)[]),
    message: z.string(),
  })
  .meta({
    id: 'StreamInterrupted',
    description:
      'stream_interrupted: the stream ends here, and what it tells of goes on. Without `id`: ask for what follows with that of the event before, as Last-Event-ID. Not after `unauthorized`.',
  });
