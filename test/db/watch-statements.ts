import type { RootOperationNode } from 'kysely';
import type { Db } from '../../db/connect.ts';

/** Returns the database with `see` called before each statement, which fails with what `see` throws. */
export function watchStatements(db: Db, see: (node: RootOperationNode) => void): Db {
  return db.withPlugin({
    transformQuery({ node }) {
      see(node);
      return node;
    },
    transformResult: async ({ result }) => result,
  });
}
