import type { CommandResult } from '../terminal/print-result.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { type PushOptions, push } from './push.ts';
import { promote, publish } from './release.ts';

type Options = PushOptions & { note?: string };

/** Pushes files and, with `production`, publishes and promotes what was pushed. */
export async function pushToProduction(
  sources: string[],
  { note, ...options }: Options,
): Promise<CommandResult> {
  const { project, production } = options;
  if (note !== undefined && !production)
    throw new UsageError('--note describes a version: give --production too.');
  const pushed = await push(sources, options);
  if (!production) return pushed;
  const results = [
    pushed,
    await publish(sources, { project, note: note ?? '' }),
    await promote(sources, { project }),
  ];
  const [first, ...others] = results.map(({ json }) => json as object[]) as [object[], ...object[][]];
  return {
    json: first.map((flow, at) => Object.assign({}, flow, ...others.map((list) => list[at]))),
    text: results.map(({ text }) => text).join('\n'),
  };
}
