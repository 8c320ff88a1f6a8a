// main of `npm run migrate`
import { readDatabaseUrl } from '../platform/config/config.ts';
import { log } from '../platform/observability/log.ts';
import { exitOnFailure } from '../platform/process/end-process.ts';
import { refuseArguments } from '../platform/process/read-process-config.ts';
import { connect } from './connect.ts';
import { migrate } from './migrate.ts';

const applied = await exitOnFailure(async () => {
  refuseArguments();
  const db = connect(readDatabaseUrl());
  return migrate(db).finally(() => db.destroy());
});
log.info(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.');
