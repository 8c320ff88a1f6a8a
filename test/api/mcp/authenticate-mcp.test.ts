import assert from 'node:assert/strict';
import type { ApiDeps } from '../../../api/deps.ts';
import type { ApiContext } from '../../../api/http/context.ts';
import { authenticateMcp } from '../../../api/mcp/authenticate-mcp.ts';
import {
  ConnectionShareUsed,
  createConnectionTurns,
  onBehalfOf,
} from '../../../db/connection/connection-turns.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { watchStatements } from '../../db/watch-statements.ts';

describe('authentication for MCP', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('takes turns at database connections for its user', async () => {
    const takeTurn = createConnectionTurns(4, 1);
    await onBehalfOf('ada', () => Promise.all([takeTurn(), takeTurn(), takeTurn()]));
    const turns: Promise<unknown>[] = [];
    const db = watchStatements(database.db, () => {
      turns.push(assert.rejects(takeTurn(), ConnectionShareUsed));
    });
    const user = {
      ...{ kind: 'user', userId: 'ada', scopes: [], environment: 'live' },
      ...{ client: { id: 'client', name: 'Client' }, consentedAt: new Date() },
    };
    const deps = {
      db,
      config: {},
      signInLimiter: { check: (_request: unknown, _token: string, verify: () => unknown) => verify() },
      tokens: { verify: async () => user },
    };
    const ctx = { get: () => 'Bearer token', req: {}, state: {} };
    await authenticateMcp(deps as unknown as ApiDeps)(ctx as unknown as ApiContext, async () => undefined);
    assert.ok(turns.length > 0);
    await Promise.all(turns);
  });
});
