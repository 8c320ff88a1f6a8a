import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { getTemporalBinary } from '../../../dev/temporal/binary.ts';

const DOCS = path.join(import.meta.dirname, '../../../docs/operating');
/** The subcommand and its options, in a block or in a line of text. */
const COMMAND = /(?:^ {4}|`)temporal ((?:[a-z]+(?:-[a-z]+)* )+)((?:\\\n|[^\n`])*)/gm;

describe('the commands of Temporal that the documentation gives', () => {
  let temporal: string;
  before(async () => {
    temporal = await getTemporalBinary({ stateFolder: tmpdir() });
  });

  for (const page of readdirSync(DOCS).filter((name) => name.endsWith('.md')))
    for (const [, name = '', options = ''] of readFileSync(path.join(DOCS, page), 'utf8').matchAll(COMMAND))
      it(`have options that there are: ${name}in ${page}`, async () => {
        const { stdout } = await promisify(execFile)(temporal, [...name.trim().split(' '), '--help']);
        assert.match(stdout, new RegExp(`^  temporal ${name}\\[flags\\]`, 'm'));
        for (const [option] of options.matchAll(/--[a-z-]+/g))
          assert.match(stdout, new RegExp(`${option}\\b`), option);
      });
});
