// main of `npm run api`
import { readConfig } from '../config.ts';
import { connect, QUERY_TIMEOUT_MS } from '../db/connect.ts';
import { createRequestKeys } from '../db/request-keys.ts';
import { endOnFatal } from '../end-on-fatal.ts';
import { endOnSignal } from '../end-on-signal.ts';
import { createValidator } from '../json-schema/validator.ts';
import { openRegistry } from '../models/live-registry.ts';
import { orExit } from '../or-exit.ts';
import { connectToTemporal, createClient } from '../temporal.ts';
import { serveApi } from './serve.ts';

/** Longer than the drain of the API. */
const END_MAX_SECONDS = 40;

const config = await orExit(() => readConfig());
const connection = await orExit(() => connectToTemporal(config));
const db = connect(config.databaseUrl, config.databaseConnections, QUERY_TIMEOUT_MS);
const registry = await orExit(() => openRegistry(config));
const validator = createValidator();
const requestKeys = createRequestKeys(db, config);
const api = await orExit(() =>
  serveApi({
    config,
    db,
    client: createClient(config, connection),
    requestKeys,
    validator,
    registry,
  }),
);
console.log(`The API listens on http://${config.host}:${api.port}/api/v1.`);

endOnSignal(stop, END_MAX_SECONDS);
endOnFatal(stop);

async function stop(): Promise<void> {
  await api.close();
  registry.close();
  await requestKeys.close();
  await Promise.all([validator.close(), db.destroy()]);
  await connection.close();
}
