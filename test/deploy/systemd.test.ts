// The units of deploy/systemd/. No test runs them: that needs a machine with systemd.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { API_END_MAX_SECONDS, WORKER_END_MAX_SECONDS } from '../../platform/process/end-times.ts';
import { itWith } from '../where-available.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Per cent of the scale of `systemd-analyze security`: below, it says "OK". */
const EXPOSURE_MAX = 30;

describe('deploy/systemd', () => {
  const units = ['weir-api', 'weir-worker'].map((name) => {
    const text = readFileSync(path.join(ROOT, `deploy/systemd/${name}.service`), 'utf8');
    const settings = new Map([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [key, value]));
    return { name, text, settings };
  });
  const { services } = parse(readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true });

  it('starts what docker-compose.yml starts, with its limits of memory and files', () => {
    for (const { name, settings } of units) {
      const service = services[name.replace('weir-', '')];
      const [program, ...args] = settings.get('ExecStart')?.split(' ') ?? [];
      assert.deepEqual(['node', ...args], service.command);
      assert.equal(program, '/usr/bin/node');
      assert.ok(existsSync(path.join(ROOT, args.at(-1) ?? '')));
      assert.equal(settings.get('LimitNOFILE'), String(service.ulimits.nofile));
      assert.match(service.mem_limit, new RegExp(`:-${settings.get('MemoryMax')}}`, 'i'));
    }
  });

  it('gives each process more time to stop than it takes', () => {
    const longest = [API_END_MAX_SECONDS, WORKER_END_MAX_SECONDS];
    for (const [index, { settings }] of units.entries())
      assert.ok(Number(settings.get('TimeoutStopSec')) > (longest[index] as number));
  });

  itWith(['systemd-analyze'], 'has units that systemd accepts and calls well confined', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'weir-units-'));
    try {
      for (const { name, text } of units) {
        const file = path.join(folder, `${name}.service`);
        const here = text.replaceAll('/opt/weir', ROOT).replace('/usr/bin/node', process.execPath);
        writeFileSync(file, here);
        const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', file]);
        assert.equal(stdout + stderr, '');
        await run('systemd-analyze', ['security', '--offline=true', `--threshold=${EXPOSURE_MAX}`, file]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
