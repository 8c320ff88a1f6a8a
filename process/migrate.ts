// main of `npm run migrate`
import { readDatabaseUrl } from '../config.ts';
import { connect } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { log } from '../observability/log.ts';
import { exitOnFailure } from './exit-on-failure.ts';
import { refuseArguments } from './refuse-arguments.ts';

const applied = await exitOnFailure(async () => {
  refuseArguments();
  const db = connect(readDatabaseUrl());
  return migrate(db).finally(() => db.destroy());
});
log.info(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.');
