// main of `npm run migrate`
import { connect } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { exitOnFailure } from './exit-on-failure.ts';

const applied = await exitOnFailure(async () => {
  const url = process.env.DATABASE_URL ?? '';
  if (!/^postgres(ql)?:/.test(url))
    throw new Error(
      'DATABASE_URL is not set to a postgres:// address: migrate needs the database to update.',
    );
  const db = connect(url);
  return migrate(db).finally(() => db.destroy());
});
console.log(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.');
