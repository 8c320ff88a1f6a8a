import assert from 'node:assert/strict';
import { readUsage } from '../../../activities/model/read-usage.ts';
import { NO_TOKENS, type TokenUsage } from '../../../platform/models/token-usage.ts';

const EXPECTED = { ...NO_TOKENS, promptTokens: 70, completionTokens: 30 };

function read(answer: unknown): TokenUsage | undefined {
  return readUsage(answer, () => EXPECTED);
}

type Read = Partial<Record<'in' | 'cached' | 'write' | 'hour' | 'out' | 'reasoning', number>> & {
  estimated?: true;
};

/** Tests what is read of each usage. */
function itReads(rule: string, cases: [usage: object, read: Read][]): void {
  for (const [usage, wanted] of cases)
    it(`${rule}: ${JSON.stringify(usage)}`, () => {
      assert.deepEqual(read({ usage }), {
        promptTokens: wanted.in ?? 0,
        cachedTokens: wanted.cached ?? 0,
        cacheWriteTokens: wanted.write ?? 0,
        cacheWriteHourTokens: wanted.hour ?? 0,
        completionTokens: wanted.out ?? 0,
        reasoningTokens: wanted.reasoning ?? 0,
        ...(wanted.estimated && { isEstimated: true }),
      });
    });
}

describe('readUsage', () => {
  const reasoning = (tokens: unknown) => ({ completion_tokens_details: { reasoning_tokens: tokens } });
  const cached = (tokens: unknown) => ({ prompt_tokens_details: { cached_tokens: tokens } });

  itReads('counts reasoning inside completion_tokens once', [
    [
      { prompt_tokens: 20, completion_tokens: 198, ...reasoning(128) },
      { in: 20, out: 198, reasoning: 128 },
    ],
    [
      { prompt_tokens: 20, completion_tokens: 198, total_tokens: 218, ...reasoning(128) },
      { in: 20, out: 198, reasoning: 128 },
    ],
    [
      { input_tokens: 20, output_tokens: 198, output_tokens_details: { reasoning_tokens: 128 } },
      { in: 20, out: 198, reasoning: 128 },
    ],
  ]);

  itReads('adds reasoning that completion_tokens leave out', [
    [
      { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623, ...reasoning(405) },
      { in: 20, out: 603, reasoning: 405 },
    ],
    [
      { prompt_tokens: 20, completion_tokens: 500, total_tokens: 925, ...reasoning(405) },
      { in: 20, out: 905, reasoning: 405 },
    ],
    [
      { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 },
      { in: 20, out: 603, reasoning: 405 },
    ],
    [
      { prompt_tokens: 21, completion_tokens: 0, total_tokens: 81, ...reasoning(60) },
      { in: 21, out: 60, reasoning: 60 },
    ],
    [
      { prompt_tokens: 21, total_tokens: 81, ...reasoning(60) },
      { in: 21, out: 60, reasoning: 60 },
    ],
    [
      { prompt_tokens: 21, completion_tokens: 0, ...reasoning(60) },
      { in: 21, out: 60, reasoning: 60 },
    ],
    [
      { prompt_tokens: 21, completion_tokens: 9, reasoning_tokens: 60, total_tokens: 90 },
      { in: 21, out: 69, reasoning: 60 },
    ],
  ]);

  itReads('takes the rest of a total for reasoning, not for cached input that the prompt includes', [
    [
      {
        prompt_tokens: 10_120,
        completion_tokens: 1_499,
        total_tokens: 14_428,
        ...cached(128),
        ...reasoning(2_809),
      },
      { in: 10_120, cached: 128, out: 4_308, reasoning: 2_809 },
    ],
    [
      { prompt_tokens: 5_000, completion_tokens: 10, total_tokens: 10_000, ...cached(4_000) },
      { in: 5_000, cached: 4_000, out: 5_000, reasoning: 4_990 },
    ],
    [
      {
        prompt_tokens: 5_000,
        completion_tokens: 10,
        total_tokens: 6_010,
        cache_read_input_tokens: 900,
        ...reasoning(1_000),
      },
      { in: 5_000, cached: 900, out: 1_010, reasoning: 1_000 },
    ],
    [
      {
        prompt_tokens: 50,
        completion_tokens: 100,
        total_tokens: 9_250,
        ...cached(9_000),
        ...reasoning(100),
      },
      { in: 9_050, cached: 9_000, out: 200, reasoning: 100 },
    ],
  ]);

  itReads('finds what is missing from the others', [
    [
      { completion_tokens: 5, total_tokens: 105 },
      { in: 100, out: 5 },
    ],
    [
      { prompt_tokens: 0, completion_tokens: 5, total_tokens: 105 },
      { in: 100, out: 5 },
    ],
    [
      { completion_tokens: 5, total_tokens: 105, ...reasoning(60) },
      { in: 40, out: 65, reasoning: 60 },
    ],
    [
      { prompt_tokens: 100, total_tokens: 105 },
      { in: 100, out: 5 },
    ],
    [
      { prompt_cache_hit_tokens: 90, prompt_cache_miss_tokens: 10, completion_tokens: 5 },
      { in: 100, cached: 90, out: 5 },
    ],
  ]);

  itReads('estimates what is missing and does not follow', [
    [{ completion_tokens: 5 }, { in: 70, out: 5, estimated: true }],
    [{ prompt_tokens: 5 }, { in: 5, out: 30, estimated: true }],
    [{ total_tokens: 105 }, { in: 75, out: 30, estimated: true }],
    [{ total_tokens: 20 }, { in: 0, out: 20, estimated: true }],
  ]);

  itReads('reads cached input as part of the input', [
    [
      { prompt_tokens: 10_000, completion_tokens: 100, ...cached(9_000) },
      { in: 10_000, cached: 9_000, out: 100 },
    ],
    [
      {
        prompt_tokens: 10_000,
        prompt_cache_hit_tokens: 9_000,
        prompt_cache_miss_tokens: 1_000,
        ...cached(9_000),
        completion_tokens: 1,
      },
      { in: 10_000, cached: 9_000, out: 1 },
    ],
    [
      { prompt_tokens: 10, cached_tokens: 9, completion_tokens: 1 },
      { in: 10, cached: 9, out: 1 },
    ],
    [
      { input_tokens: 10, input_tokens_details: { cached_tokens: 9 }, output_tokens: 1, total_tokens: 11 },
      { in: 10, cached: 9, out: 1 },
    ],
    [
      {
        prompt_tokens: 10,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3, cache_write_1h_tokens: 2 },
        completion_tokens: 1,
      },
      { in: 10, cached: 4, write: 3, hour: 2, out: 1 },
    ],
  ]);

  itReads("reads LiteLLM's cache writes as part of the input", [
    [
      {
        prompt_tokens: 98_805,
        completion_tokens: 5_120,
        total_tokens: 103_925,
        prompt_tokens_details: { cached_tokens: 66_360, cache_creation_tokens: 32_435 },
      },
      { in: 98_805, cached: 66_360, write: 32_435, out: 5_120 },
    ],
  ]);

  itReads('reads cache writes of an hour from the fields of gateways', [
    [
      {
        prompt_tokens: 110,
        completion_tokens: 25,
        total_tokens: 135,
        prompt_tokens_details: {
          cached_tokens: 20,
          cache_creation_tokens: 10,
          cache_creation_token_details: { ephemeral_5m_input_tokens: 7, ephemeral_1h_input_tokens: 3 },
        },
      },
      { in: 110, cached: 20, write: 7, hour: 3, out: 25 },
    ],
    [
      {
        prompt_tokens: 1_100,
        completion_tokens: 25,
        total_tokens: 1_125,
        input_tokens: 0,
        prompt_tokens_details: { cached_tokens: 20, cached_creation_tokens: 1_000 },
        claude_cache_creation_5_m_tokens: 400,
        claude_cache_creation_1_h_tokens: 600,
      },
      { in: 1_100, cached: 20, write: 400, hour: 600, out: 25 },
    ],
  ]);

  itReads('reads cached input wherever its details are', [
    [
      { prompt_tokens: 1_013, completion_tokens: 30, prompt_token_details: { cached_tokens: 1_008 } },
      { in: 1_013, cached: 1_008, out: 30 },
    ],
    [
      {
        prompt_tokens: 10,
        completion_tokens: 1,
        ...cached(0),
        input_tokens_details: { cached_tokens: 9 },
      },
      { in: 10, cached: 9, out: 1 },
    ],
  ]);

  const anthropic = { cache_read_input_tokens: 9_000, cache_creation_input_tokens: 1_000 };
  itReads('adds cache reads and writes that input_tokens leave out', [
    [
      { input_tokens: 50, ...anthropic, output_tokens: 100 },
      { in: 10_050, cached: 9_000, write: 1_000, out: 100 },
    ],
    [
      { input_tokens: 20_000, ...anthropic, output_tokens: 100 },
      { in: 30_000, cached: 9_000, write: 1_000, out: 100 },
    ],
    [
      {
        input_tokens: 50,
        ...anthropic,
        cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 600 },
        output_tokens: 100,
      },
      { in: 10_050, cached: 9_000, write: 400, hour: 600, out: 100 },
    ],
    [
      { input_tokens: 50, ...anthropic, output_tokens: 100, total_tokens: 150 },
      { in: 10_050, cached: 9_000, write: 1_000, out: 100 },
    ],
    [
      { prompt_tokens: 50, completion_tokens: 100, total_tokens: 9_150, ...cached(9_000) },
      { in: 9_050, cached: 9_000, out: 100 },
    ],
  ]);

  itReads('adds no cache reads and writes that are in the total', [
    [
      { input_tokens: 10_050, ...anthropic, output_tokens: 100, total_tokens: 10_150 },
      { in: 10_050, cached: 9_000, write: 1_000, out: 100 },
    ],
    [
      { prompt_tokens: 10_050, ...anthropic, completion_tokens: 100, ...cached(9_000) },
      { in: 10_050, cached: 9_000, write: 1_000, out: 100 },
    ],
  ]);

  itReads('takes odd counts for what they can mean', [
    [
      { prompt_tokens: '12', completion_tokens: ' 5 ' },
      { in: 12, out: 5 },
    ],
    [
      { prompt_tokens: 12.2, completion_tokens: 5.0 },
      { in: 13, out: 5 },
    ],
    [
      { prompt_tokens: -1, completion_tokens: 5, total_tokens: 17 },
      { in: 12, out: 5 },
    ],
    [
      { prompt_tokens: Number.NaN, completion_tokens: 5, total_tokens: '17' },
      { in: 12, out: 5 },
    ],
    [
      { prompt_tokens: 12, completion_tokens: 5, total_tokens: 3 },
      { in: 12, out: 5 },
    ],
    [
      { prompt_tokens: 12, completion_tokens: 5, ...cached(99) },
      { in: 12, cached: 12, out: 5 },
    ],
    [
      { prompt_tokens: 12, completion_tokens: 5, ...cached(-9), ...reasoning('x') },
      { in: 12, out: 5 },
    ],
    [
      { prompt_tokens: 1e30, completion_tokens: 5, total_tokens: 17 },
      { in: 12, out: 5 },
    ],
    [
      {
        prompt_tokens: 12,
        completion_tokens: 5,
        prompt_tokens_details: null,
        completion_tokens_details: null,
      },
      { in: 12, out: 5 },
    ],
    [{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, {}],
  ]);

  it('finds the usage where streams of Groq and Moonshot have it', () => {
    const usage = { prompt_tokens: 12, completion_tokens: 5 };
    for (const answer of [{ x_groq: { usage } }, { usage: null, choices: [{ usage }] }])
      assert.partialDeepStrictEqual(read(answer), { promptTokens: 12, completionTokens: 5 });
  });

  for (const answer of [
    undefined,
    null,
    'text',
    {},
    { usage: null },
    { usage: {} },
    { usage: 'x', choices: {} },
  ])
    it(`finds none in ${JSON.stringify(answer)}`, () => assert.equal(read(answer), undefined));

  it('reads the service tier', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    assert.equal(read({ usage, service_tier: 'flex' })?.tier, 'flex');
    assert.equal(read({ usage: { ...usage, service_tier: 'batch' } })?.tier, 'batch');
    assert.ok(!('tier' in (read({ usage, service_tier: null }) ?? {})));
  });

  it('reads costs that other servers report', () => {
    const costOf = (cost: object) => read({ usage: { prompt_tokens: 1, ...cost } })?.reportedUsd;
    assert.equal(costOf({ cost: '0.25' }), 0.25);
    assert.equal(costOf({ estimated_cost: 0.0000268 }), 0.0000268);
    assert.equal(costOf({ cost_in_usd_ticks: 37_756_000 }), 0.0037756);
    assert.equal(read({ usage: { cost: 0.25 } })?.reportedUsd, 0.25);
  });

  it('reads the cost that OpenRouter reports, and adds the bill of the provider only with a key of its own', () => {
    const costOf = (cost: object) => read({ usage: { prompt_tokens: 1, ...cost } })?.reportedUsd;
    const cost_details = { upstream_inference_cost: 0.5 };
    assert.equal(costOf({ cost: 0.02 }), 0.02);
    assert.equal(costOf({ cost: 0 }), 0);
    assert.equal(costOf({ cost: 0.02, cost_details }), 0.02);
    assert.equal(costOf({ cost: 0.25, cost_details, is_byok: true }), 0.75);
    assert.equal(costOf({ cost: { total_cost: 0.006, request_cost: 0.005 } }), 0.006);
    assert.equal(costOf({ cost: -1 }), undefined);
    assert.equal(costOf({ cost: null }), undefined);
  });
});
