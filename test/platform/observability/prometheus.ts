// Runs a real Prometheus that scrapes a service.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { findFreePort } from '../../../dev/processes/ports.ts';
import { waitUntil } from '../../wait-until.ts';
import { RULES } from './metric-names.ts';

type Prometheus = {
  /** Answers the series of a query. */
  ask(query: string): Promise<{ metric: { [label: string]: string }; value: [number, string] }[]>;
  /** Answers a path of its HTTP interface. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and assert what they find
  get(path: string): Promise<any>;
  stop(): Promise<void>;
};

/** Starts Prometheus with the configuration of deploy/prometheus/, on `target` in place of its own. */
export async function startPrometheus(target: string): Promise<Prometheus> {
  const folder = await mkdtemp(path.join(tmpdir(), 'weir-prometheus-'));
  const config = parse(await readFile(path.join(path.dirname(RULES), 'prometheus.yml'), 'utf8'));
  Object.assign(config.global, { scrape_interval: '1s', evaluation_interval: '1s' });
  config.rule_files = [RULES];
  config.scrape_configs[0].static_configs[0].targets = [target];
  const file = path.join(folder, 'prometheus.yml');
  await writeFile(file, stringify(config));
  const port = await findFreePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${path.join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  ended.catch(() => undefined);
  const get = async (at: string) => (await fetch(`http://127.0.0.1:${port}${at}`)).json();
  await waitUntil(() =>
    fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    get,
    async ask(query) {
      const { status, data, error } = (await get(`/api/v1/query?query=${encodeURIComponent(query)}`)) as {
        status: string;
        data: { result: never[] };
        error?: string;
      };
      if (status !== 'success') throw new Error(`${query}: ${error}`);
      return data.result;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
