const PAUSE_MS = 50;

type Answer<T> = T | undefined | null | false;

/** Asks again and again, with a pause between, until the answer is truthy; returns that answer. */
export async function waitUntil<T>(ask: () => Answer<T> | Promise<Answer<T>>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
