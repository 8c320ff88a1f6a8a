import type { Db } from '../connect.ts';
import { runNotFound } from '../stored-values/run-not-found.ts';
import { inputBytes } from '../stored-values/stored-inputs.ts';

/**
 * Gets the request that began a run, with its callback and the providers for which it sent keys. `bytes`: the size of
 * its input as JSON, which is not included. Throws RUN_NOT_FOUND.
 */
export async function getRequestOfRun(db: Db, executionId: string) {
  return db
    .selectFrom('run')
    .select([
      'request_id as requestId',
      'callback_url as callbackUrl',
      'callback_events as callbackEvents',
      'model_key_providers as modelKeyProviders',
    ])
    .select(inputBytes.as('bytes'))
    .where('execution_id', '=', executionId)
    .executeTakeFirstOrThrow(() => runNotFound(executionId));
}
