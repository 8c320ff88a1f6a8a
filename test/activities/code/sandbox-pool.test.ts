import assert from 'node:assert/strict';
import childProcess, { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { text } from 'node:stream/consumers';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { findConfinement } from '../../../activities/code/confinement.ts';
import type { GuestProcess } from '../../../activities/code/guest-process.ts';
import { findGuestProgram } from '../../../activities/code/guest-program.ts';
import { IDLE_MAX_MS } from '../../../activities/code/limits.ts';
import { createPool, type Pool } from '../../../activities/code/pool.ts';
import { SandboxUnavailable } from '../../../activities/code/sandbox-errors.ts';
import { watchGuests } from './guests.ts';

type Held = { guest: GuestProcess; release(reusable: boolean): Promise<unknown> };

/** Takes a guest out of the pool; resolves when it has one. */
async function hold(pool: Pool): Promise<Held> {
  const taken = Promise.withResolvers<GuestProcess>();
  const over = Promise.withResolvers<{ reusable: boolean }>();
  const use = pool.use((guest) => {
    taken.resolve(guest);
    return over.promise;
  });
  return {
    guest: await taken.promise,
    release(reusable) {
      over.resolve({ reusable });
      return use;
    },
  };
}

function failToStart(): never {
  throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' });
}

describe('the pool of guest processes', () => {
  for (const name of ['execFile', 'spawn'] as const)
    it(`rejects those who wait when ${name} throws, as without memory, and starts processes as confined later`, async function () {
      if (process.platform !== 'linux') this.skip();
      await findGuestProgram();
      const failing = mock.method(childProcess, name, failToStart);
      syncBuiltinESMExports();
      const pool = createPool({ size: 1 });
      try {
        await assert.rejects(
          pool.use(async () => ({ reusable: true })),
          SandboxUnavailable,
        );
        failing.mock.restore();
        syncBuiltinESMExports();
        const { guest, release } = await hold(pool);
        const { args } = await findConfinement();
        const status = readFileSync(`/proc/${guest.pid}/status`, 'latin1');
        assert.equal(/^NoNewPrivs:\t1$/m.test(status), args.includes('--no-new-privs'));
        await release(true);
      } finally {
        failing.mock.restore();
        syncBuiltinESMExports();
        await pool.close();
      }
    });

  it('without free file descriptors rejects all who wait, and the service goes on', async function () {
    if (process.platform !== 'linux') this.skip();
    const program = `
      import { openSync } from 'node:fs';
      import { findGuestProgram } from './activities/code/guest-program.ts';
      import { createPool } from './activities/code/pool.ts';
      await findGuestProgram();
      try { for (;;) openSync('/dev/null'); } catch {}
      const pool = createPool({ size: 3 });
      const use = () => pool.use(async () => ({ reusable: true }));
      for (const { reason } of await Promise.allSettled([use(), use()])) console.log(reason.name);
      setImmediate(() => console.log('goes on'));`;
    const node = [process.execPath, '--input-type=module-typescript', '-e', program];
    const service = spawn('/bin/sh', ['-c', 'ulimit -n 100; exec "$@"', 'sh', ...node], {
      cwd: new URL('../../../', import.meta.url),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    assert.equal(await text(service.stdout), 'SandboxUnavailable\nSandboxUnavailable\ngoes on\n');
  });

  it('ends those that stay idle, except the last', async () => {
    const pool = createPool({ size: 3 });
    try {
      const held = [await hold(pool), await hold(pool), await hold(pool)];
      mock.timers.enable({ apis: ['setTimeout'] });
      await Promise.all(held.map(({ release }) => release(true)));
      mock.timers.tick(IDLE_MAX_MS);
      await Promise.all([held[0]?.guest.exited, held[1]?.guest.exited]);
      const { guest } = await hold(pool);
      assert.equal(guest, held[2]?.guest);
    } finally {
      mock.timers.reset();
      await pool.close();
    }
  });

  it('starts one process for each caller who waits and one to spare, however long the start takes (on Linux)', async function () {
    if (process.platform !== 'linux') this.skip();
    const guests = watchGuests();
    const pool = createPool({ size: 10 });
    try {
      const used = new Set<GuestProcess>();
      const use = async (guest: GuestProcess) => {
        used.add(guest);
        await setImmediate();
        return { reusable: true };
      };
      const call = async () => {
        while (used.size < 2) await pool.use(use);
      };
      await Promise.all([call(), call()]);
      assert(guests().length <= 3);
    } finally {
      await pool.close();
    }
  });
});
