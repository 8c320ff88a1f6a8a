import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import type { PostOrder } from '../../fakes/post-program.ts';
import { itWith } from '../../where-available.ts';

const PROGRAM = path.join(import.meta.dirname, '../..', 'fakes', 'post-program.ts');
const V4 = '93.184.216.34';
const V6 = '2606:4700::1111';

describe('guarded POST on a machine without a route to the destination', () => {
  const orders: PostOrder[] = [
    { host: 'v4.example.com', addresses: [V4] },
    { host: 'v6.example.com', addresses: [V6] },
    { host: 'both.example.com', addresses: [V4, V6] },
    { host: 'many.example.com', addresses: [V6, '2606:4700::1112', V4, '93.184.216.35'] },
    { host: V4, addresses: [] },
    { host: `[${V6}]`, addresses: [] },
    { host: 'proxied.example.com', addresses: [V4, V6], proxy: `http://${V4}:3128` },
    { host: 'proxied.example.com', addresses: [V4], proxy: 'http://proxy.example.com:3128' },
  ];

  itWith(['unshare'], 'has no answer, says why, and the process lives', async () => {
    const { status, stdout, stderr } = spawnSync(
      'unshare',
      ['--map-root-user', '--net', process.execPath, PROGRAM, JSON.stringify(orders)],
      { encoding: 'utf8' },
    );
    assert.deepEqual([status, stderr], [0, '']);
    const ends: string[] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(ends.length, orders.length);
    for (const [index, end] of ends.entries()) assert.match(end, /^NoAnswer: /, orders[index]?.host);
  });
});
