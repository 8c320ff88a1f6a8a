import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { listModels } from '../../../api/flows/list-models.ts';
import { createRegistry } from '../../../platform/models/registry.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';

describe('listModels', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('has all prices of a model: of long inputs, images and caching for an hour, and the factors of tiers', async () => {
    const long = { above_tokens: 200_000, input: 4, output: 15 };
    const price = {
      input: 2,
      cached_input: 0.2,
      cache_write_1h: 3,
      output: 10,
      long_context: [long],
      image: 0.005,
    };
    const capabilities = { price, reported_cost: true, tiers: { batch: 0.5 } };
    const known = createRegistry({ providers: { gpu: { like: ['vllm'], capabilities } } });
    const registry = { ...known, isAvailable: () => true, close: () => undefined };
    const config = { providers: { gpu: {} }, ownKeyProviders: {} } as never;
    const models = await listModels({ db: database.db, config, registry }, randomUUID());
    assert.partialDeepStrictEqual(
      models.find(({ model }) => model === 'gpu/*'),
      {
        inputPrice: 200,
        cachedInputPrice: 20,
        cacheWritePrice: 200,
        cacheWriteHourPrice: 300,
        outputPrice: 1_000,
        longContextPrices: [
          {
            aboveTokens: 200_000,
            inputPrice: 400,
            cachedInputPrice: 40,
            cacheWritePrice: 400,
            cacheWriteHourPrice: 600,
            outputPrice: 1_500,
          },
        ],
        imagePrice: 0.5,
        reportedCost: true,
        tiers: { batch: 0.5 },
      },
    );
  });
});
