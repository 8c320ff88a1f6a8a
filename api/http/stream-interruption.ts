import { z } from 'zod';

const INTERRUPTIONS = {
  stopping: 'This process is stopping; the run goes on. Ask again, with Last-Event-ID, for what follows.',
  unavailable: 'What follows cannot be read just now; the run goes on. Ask again, with Last-Event-ID.',
  unauthorized: 'The API key, token or membership behind this request is no longer valid; the run goes on.',
};

/** Ends a stream with a reason. */
export class StreamInterruption extends Error {
  readonly reason: keyof typeof INTERRUPTIONS;
  constructor(reason: keyof typeof INTERRUPTIONS) {
    super(INTERRUPTIONS[reason]);
    this.reason = reason;
  }
}

/** The `data` of `stream_interrupted`. The event has no `id`, so that clients resume after the event before it. */
export const streamInterrupted = z
  .object({
    executionId: z.uuid(),
    reason: z.enum(Object.keys(INTERRUPTIONS) as (keyof typeof INTERRUPTIONS)[]),
    message: z.string(),
  })
  .meta({
    id: 'StreamInterrupted',
    description:
      'stream_interrupted: the stream ends here; the run goes on. It has no `id`: ask for what follows with the `id` of the event before as Last-Event-ID (after `unauthorized`, with a valid key).',
  });
