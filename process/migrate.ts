// main of `npm run migrate`
import { readDatabaseUrl } from '../config.ts';
import { connect } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { exitOnFailure } from './exit-on-failure.ts';

const applied = await exitOnFailure(async () => {
  const db = connect(readDatabaseUrl());
  return migrate(db).finally(() => db.destroy());
});
console.log(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.');
