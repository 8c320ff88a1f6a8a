/**
 * There is no memory for a prompt, no turn, or no answer of the object store now. A local attempt is rescheduled, or becomes a
 * regular one, which waits for the memory and begins again.
 */
export class NoRoom extends Error {
  /** The characters of the prompt; 0: it is something else that has not come. */
  readonly chars: number;
  /** A read that continues, and keeps its memory until it ends. */
  readonly reading: Promise<unknown> | undefined;

  constructor(chars = 0, reading?: Promise<unknown>) {
    super();
    this.chars = chars;
    this.reading = reading;
  }
}
