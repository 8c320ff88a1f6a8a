import assert from 'node:assert/strict';
import { readCode } from '../../../platform/javascript/read-code.ts';
import { createCodeReader } from '../../../platform/large-values/code-reader.ts';

const HERE_MAX_LENGTH = 16 * 1024;
const makeSource = (length: number, name = 'a') => `return outputs.${name};`.padEnd(length);

describe('createCodeReader', () => {
  /** A thread that notes what it reads. `hold` has it wait first. */
  const setUp = (hold: (reads: number) => Promise<void> = async () => undefined) => {
    const asked: { owner: string; length: number }[] = [];
    const read = createCodeReader({
      async readCode(owner, source, { signal }) {
        asked.push({ owner, length: source.length });
        await hold(asked.length);
        signal?.throwIfAborted();
        return readCode(source.toString());
      },
    });
    return { asked, read };
  };

  it('finds the syntax error and the steps of each source, in their order', async () => {
    const { read } = setUp();
    const sources = ['return outputs.a', makeSource(HERE_MAX_LENGTH + 1, 'b'), 'return (', ''];
    const found = await read('acme', sources);
    assert.deepEqual(
      found.map(({ named }) => named),
      [['a'], ['b'], [], []],
    );
    assert.deepEqual(
      found.map(({ problem }) => problem !== undefined),
      [false, false, true, false],
    );
  });

  it('reads the first sources where the caller runs, and what goes beyond in the thread, for its owner', async () => {
    const { asked, read } = setUp();
    await read('acme', [makeSource(HERE_MAX_LENGTH), makeSource(100, 'b'), makeSource(200, 'c')]);
    assert.deepEqual(asked, [
      { owner: 'acme', length: 100 },
      { owner: 'acme', length: 200 },
    ]);
  });

  it('reads a source once, whoever asks, and those that it knows beside new ones do not count', async () => {
    const { asked, read } = setUp();
    const known = [makeSource(HERE_MAX_LENGTH), makeSource(HERE_MAX_LENGTH, 'b')];
    const found = await read('acme', known);
    assert.deepEqual(await read('other', [...known, 'return outputs.c']), [
      ...found,
      { problem: undefined, named: ['c'] },
    ]);
    assert.equal(asked.length, 1);
  });

  it('remembers the code of an owner, however much another has read', async () => {
    const { asked, read } = setUp();
    const own = makeSource(HERE_MAX_LENGTH + 1);
    await read('acme', [own]);
    for (let index = 0; index < 500; index++)
      await read('other', [makeSource(0, `a${index}`.padEnd(10_000, 'b'))]);
    await read('acme', [own]);
    assert.equal(asked.length, 1);
  });

  it('waits for the reading of another of the owner no longer than its own signal allows, and for no other owner', async () => {
    const turn = Promise.withResolvers<void>();
    const { asked, read } = setUp((reads) => (reads === 1 ? turn.promise : Promise.resolve()));
    const source = makeSource(HERE_MAX_LENGTH + 1);
    const first = read('a', [source]);
    const gone = new AbortController();
    const second = read('a', [source], gone.signal);
    gone.abort(new Error('gone'));
    await assert.rejects(second, { message: 'gone' });
    assert.equal((await read('b', [source])).length, 1);
    turn.resolve();
    await first;
    assert.deepEqual(
      asked.map(({ owner }) => owner),
      ['a', 'b'],
    );
  });

  it('reads a source once for those who ask at the same time', async () => {
    const { asked, read } = setUp();
    const source = makeSource(HERE_MAX_LENGTH + 1);
    const found = await Promise.all([1, 2, 3].map(() => read('a', [source])));
    assert.deepEqual(
      found.flat().map(({ named }) => named),
      [['a'], ['a'], ['a']],
    );
    assert.deepEqual(
      asked.map(({ owner }) => owner),
      ['a'],
    );
  });

  it('reads it for the next one when the first has given up', async () => {
    const turn = Promise.withResolvers<void>();
    const { asked, read } = setUp((reads) => (reads === 1 ? turn.promise : Promise.resolve()));
    const source = makeSource(HERE_MAX_LENGTH + 1);
    const gone = new AbortController();
    const first = read('a', [source], gone.signal);
    const others = Promise.all([read('a', [source]), read('a', [source])]);
    gone.abort(new Error('gone'));
    turn.resolve();
    await assert.rejects(first, { message: 'gone' });
    assert.deepEqual(
      (await others).flat().map(({ named }) => named),
      [['a'], ['a']],
    );
    assert.deepEqual(
      asked.map(({ owner }) => owner),
      ['a', 'a'],
    );
  });
});
