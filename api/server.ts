// main of `npm run api`
import { readConfig } from '../config.ts';
import { connect, QUERY_TIMEOUT_MS } from '../db/connect.ts';
import { createRequestKeys } from '../db/tenants/request-keys.ts';
import { connectToTemporal, createClient } from '../engine/connect.ts';
import { createValidator } from '../json-schema/validator.ts';
import { openRegistry } from '../models/live-registry.ts';
import { endOnFatal } from '../process/end-on-fatal.ts';
import { endOnSignal } from '../process/end-on-signal.ts';
import { exitOnFailure } from '../process/exit-on-failure.ts';
import { serveApi } from './serve.ts';

/** Longer than the drain of the API. */
const END_MAX_SECONDS = 40;

const config = await exitOnFailure(() => readConfig());
const connection = await exitOnFailure(() => connectToTemporal(config));
const db = connect(config.databaseUrl, config.databaseConnections, QUERY_TIMEOUT_MS);
const registry = await exitOnFailure(() => openRegistry(config));
const validator = createValidator();
const requestKeys = createRequestKeys(db, config);
const api = await exitOnFailure(() =>
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
