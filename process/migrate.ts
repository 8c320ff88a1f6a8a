// main of `npm run migrate`
import { connect } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { exitOnFailure } from './exit-on-failure.ts';

const applied = await exitOnFailure(async () => {
  const url = process.env.DATABASE_URL ?? '';
  if (!/^postgres(ql)?:/.test(url))
    throw new Error('DATABASE_URL must be the postgres:// address of the database to update.');
  const db = connect(url);
  return migrate(db).finally(() => db.destroy());
});
console.log(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.');
