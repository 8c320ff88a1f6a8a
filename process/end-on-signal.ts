/** npm passes on the Ctrl-C that the terminal has sent to everyone already: the second within this time is the first. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Sees to it that SIGTERM and SIGINT end the process: `stop` lets what is under way finish, for at most `seconds`. A
 * second SIGTERM changes nothing, since what repeats it is a program; a second Ctrl-C, a person's, ends the process at
 * once.
 */
export function endOnSignal(stop: () => Promise<unknown>, seconds: number): void {
  let began: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      const now = performance.now();
      if (began === undefined) {
        began = now;
        setTimeout(endAnyway, seconds * 1_000).unref();
        // A rejection ends the process as every error does that nothing catches.
        void stop();
      } else if (signal === 'SIGINT' && now - began > SAME_SIGNAL_MS) process.exit(130);
    });
}

function endAnyway(): void {
  console.error('Not everything has ended in time. What was accepted is kept, and goes on elsewhere.');
  process.exit(1);
}
