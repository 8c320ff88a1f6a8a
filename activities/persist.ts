import { ServiceError } from '../flow/errors.ts';

const PERSIST_DELAYS_MS = [100, 300, 1_000, 3_000, 10_000];

/** Repeats a failed write here: failing the whole attempt would do, and pay for, its work a second time. */
export async function persist<T>(write: () => Promise<T>): Promise<T> {
  for (const delay of PERSIST_DELAYS_MS) {
    try {
      return await write();
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
  return write();
}
