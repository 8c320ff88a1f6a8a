// The options of `npm run bench`.
import { parseArgs } from 'node:util';
import type { Engine } from '../setup/backends.ts';
import { CANDIDATES, type Letter } from './candidates.ts';
import { PARTS, type PartName } from './parts.ts';
import { FULL, QUICK, type Sizes } from './sizes.ts';

const LETTERS = Object.keys(CANDIDATES) as Letter[];
const PART_NAMES = Object.keys(PARTS) as PartName[];
const USAGE =
  'npm run bench -- [--quick] [--rounds N] [--only NAME,…] [--engine dev|postgres] [--json FILE]\n' +
  '       npm run bench -- --neighbours [--quick] [--load TEXT] [--json FILE]\n' +
  `NAME is a candidate (${LETTERS.join(', ')}) or a part (${PART_NAMES.join(', ')}).`;

export type Options = {
  sizes: Sizes;
  letters: Letter[];
  parts: PartName[];
  engine: Engine;
  /** Measures one organization beside the hostile loads whose names contain this, and nothing else. */
  neighbours: string | undefined;
  json: string | undefined;
};

/** Reads the command line. Prints problems and ends the process with code 2. */
export function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        rounds: { type: 'string' },
        only: { type: 'string' },
        engine: { type: 'string', default: 'dev' },
        json: { type: 'string' },
        neighbours: { type: 'boolean', default: false },
        load: { type: 'string', default: '' },
      },
    });
    const known: string[] = [...LETTERS, ...PART_NAMES];
    const only = values.only?.split(',') ?? known;
    const unknown = only.find((name) => !known.includes(name));
    if (unknown !== undefined) throw new Error(`--only does not know "${unknown}".`);
    const { engine } = values;
    if (engine !== 'dev' && engine !== 'postgres')
      throw new Error(`--engine takes dev or postgres, not "${engine}".`);
    const sizes = values.quick ? QUICK : FULL;
    const rounds = Number(values.rounds ?? sizes.rounds);
    if (!Number.isInteger(rounds) || rounds < 1)
      throw new Error(`--rounds takes a whole number from 1 on, not "${values.rounds}".`);
    return {
      sizes: { ...sizes, rounds },
      letters: LETTERS.filter((letter) => only.includes(letter)),
      parts: PART_NAMES.filter((part) => only.includes(part)),
      engine,
      neighbours: values.neighbours ? values.load : undefined,
      json: values.json,
    };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\nUsage: ${USAGE}`);
    return process.exit(2);
  }
}
