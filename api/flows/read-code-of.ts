import { setImmediate } from 'node:timers/promises';
import type { Block } from '../../flow/definition.ts';
import { type CodeFindings, readCode } from '../../platform/javascript/read-code.ts';
import type { ApiDeps } from '../deps.ts';
import { RetryLater } from '../http/request-errors.ts';
import { waitInTime } from '../http/wait-in-time.ts';
import { NOTHING } from './read-code-here.ts';

/** Analyses the code of several blocks, in order. */
export type ReadCode = (sources: string[]) => Promise<CodeFindings[]>;

/** Returns the findings in the code of a block; none for a block without code. */
export type CodeOf = (block: Block) => CodeFindings;

/**
 * Analyses code under permits of the organization. Throws RATE_LIMITED when a permit does not come in time, and
 * REQUEST_TIMEOUT when `gone` aborts first.
 */
export function codeReaderOf(
  { largeValues }: Pick<ApiDeps, 'largeValues'>,
  organizationId: string,
  gone?: AbortSignal,
): ReadCode {
  return (sources) => waitInTime((signal) => largeValues.readCode(organizationId, sources, signal), gone);
}

/**
 * Analyses code as `codeReaderOf` does, but without a permit when none comes in time: for the response to a write,
 * which must not fail after the commit.
 */
export function codeReaderAfterWrite(deps: Pick<ApiDeps, 'largeValues'>, organizationId: string): ReadCode {
  const readInTurn = codeReaderOf(deps, organizationId);
  return (sources) =>
    readInTurn(sources).catch(async (error: unknown) => {
      if (!(error instanceof RetryLater)) throw error;
      const found: CodeFindings[] = [];
      for (const source of sources) {
        found.push(readCode(source));
        // Let other requests run before the next.
        await setImmediate();
      }
      return found;
    });
}

/**
 * Analyses code as `codeReaderOf` does until a permit is late. From then on, reports no findings in code: a listing
 * without them is better than none.
 */
export function codeReaderWhileInTime(deps: Pick<ApiDeps, 'largeValues'>, organizationId: string): ReadCode {
  const readInTurn = codeReaderOf(deps, organizationId);
  let isLate = false;
  return async (sources) => {
    const nothing = sources.map(() => NOTHING);
    if (isLate) return nothing;
    return readInTurn(sources).catch((error: unknown) => {
      if (!(error instanceof RetryLater)) throw error;
      isLate = true;
      return nothing;
    });
  };
}

/** Analyses the code of blocks. */
export async function readCodeOf(read: ReadCode, blocks: Block[]): Promise<CodeOf> {
  const withCode = blocks.filter(({ processor_type, prompt }) => processor_type === 'code' && prompt);
  if (withCode.length === 0) return () => NOTHING;
  const found = await read(withCode.map(({ prompt = '' }) => prompt));
  const byBlock = new Map(withCode.map((block, index) => [block, found[index]]));
  return (block) => byBlock.get(block) ?? NOTHING;
}
