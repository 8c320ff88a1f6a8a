const PAUSE_MS = 50;
/** Less than a test may take (`test/run.ts`): mocha says only that the time is over, not what a test waited for. */
const LONG_MS = 150_000;

type Answer<T> = T | undefined | null | false;

/**
 * Asks again and again, with a pause between, until the answer is truthy; returns that answer. Says on standard error where it
 * waits, and for what, once that has taken long.
 */
export async function waitUntil<T>(ask: () => Answer<T> | Promise<Answer<T>>): Promise<T> {
  const { stack } = new Error('This is still waited for');
  let answer: Answer<T>;
  const tell = setTimeout(() => console.error(stack, '\nThe last answer:', answer), LONG_MS);
  try {
    for (;;) {
      answer = await ask();
      if (answer) return answer;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  } finally {
    clearTimeout(tell);
  }
}
