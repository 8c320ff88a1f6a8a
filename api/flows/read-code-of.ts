import { setImmediate } from 'node:timers/promises';
import type { Block } from '../../flow/definition.ts';
import { type CodeFindings, readCode } from '../../platform/javascript/read-code.ts';
import type { ApiDeps } from '../deps.ts';
import { RetryLater } from '../http/retry-later.ts';
import { waitInTime } from '../http/take-bytes.ts';

/** Reads sources of code, in their order. */
export type ReadCode = (sources: string[]) => Promise<CodeFindings[]>;

/** Answers the findings in the code of a block; none, of a block without code. */
export type CodeOf = (block: Block) => CodeFindings;

const NOTHING: CodeFindings = { named: [] };

/**
 * Reads code in the organization's turns. Throws RATE_LIMITED when these do not come, and REQUEST_TIMEOUT when `gone` aborts
 * first.
 */
export function codeReaderOf(
  { largeValues }: Pick<ApiDeps, 'largeValues'>,
  organizationId: string,
  gone?: AbortSignal,
): ReadCode {
  return (sources) => waitInTime((signal) => largeValues.readCode(organizationId, sources, signal), gone);
}

/**
 * Reads code as `codeReaderOf` does, and where the caller runs when the turns do not come: for the answer to a write, which must
 * not be refused once that is made.
 */
export function codeReaderAfterWrite(deps: Pick<ApiDeps, 'largeValues'>, organizationId: string): ReadCode {
  const readInTurn = codeReaderOf(deps, organizationId);
  return (sources) =>
    readInTurn(sources).catch(async (error: unknown) => {
      if (!(error instanceof RetryLater)) throw error;
      const found: CodeFindings[] = [];
      for (const source of sources) {
        found.push(readCode(source));
        // Others go on before the next.
        await setImmediate();
      }
      return found;
    });
}

/**
 * Reads code as `codeReaderOf` does until a turn does not come; from then on nothing is found in code. For listings, which are
 * worth more without the problems of code than not at all.
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

/** Reads the code of a block where the caller runs, for commands: they hold nobody up. */
export function readCodeHere({ processor_type, prompt }: Block): CodeFindings {
  return processor_type === 'code' && prompt ? readCode(prompt) : NOTHING;
}

/** Reads the code of blocks. */
export async function readCodeOf(read: ReadCode, blocks: Block[]): Promise<CodeOf> {
  const withCode = blocks.filter(({ processor_type, prompt }) => processor_type === 'code' && prompt);
  if (withCode.length === 0) return () => NOTHING;
  const found = await read(withCode.map(({ prompt = '' }) => prompt));
  const byBlock = new Map(withCode.map((block, index) => [block, found[index]]));
  return (block) => byBlock.get(block) ?? NOTHING;
}
