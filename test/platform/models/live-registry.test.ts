import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readConfig } from '../../../platform/config/config.ts';
import { type LiveRegistry, openRegistry } from '../../../platform/models/live-registry.ts';
import { NO_TOKENS } from '../../../platform/models/token-usage.ts';
import { captureLog } from '../../capture-log.ts';
import { SECRETS_KEYS } from '../../harness.ts';

const VISION = { 'demo/chat': { image_mime_types: ['image/png'] } };
const IMAGES = ['image/png'];

describe('openRegistry', () => {
  /** Status and body of the next answers; the last one is repeated. */
  let answers: [number, string][];
  const asked = new EventEmitter();
  let server: Server;
  let url: string;
  let registry: LiveRegistry | undefined;
  before(async () => {
    server = createServer((_request, response) => {
      const [status, body] = (answers.length > 1 ? answers.shift() : answers[0]) as [number, string];
      response.writeHead(status).end(body);
      asked.emit('asked');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/models.json?token=secret`;
  });
  let logged: ReturnType<typeof captureLog>;
  beforeEach(() => {
    logged = captureLog();
  });
  afterEach(() => {
    registry?.close();
    logged.stop();
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const answer = (content: unknown): [number, string] => [200, JSON.stringify(content)];
  async function open(modelsRefreshMinutes: number, ...next: [number, string][]): Promise<LiveRegistry> {
    answers = next;
    registry = await openRegistry({ modelsFile: undefined, modelsUrl: url, modelsRefreshMinutes });
    return registry;
  }
  const imagesOf = (opened: LiveRegistry) => opened.capabilities('demo/chat').image_mime_types;

  it('is available at once, and is the shipped list, where no URL is configured', async () => {
    registry = await openRegistry({ modelsFile: undefined, modelsUrl: undefined, modelsRefreshMinutes: 60 });
    assert.deepEqual([registry.isAvailable(), imagesOf(registry)], [true, []]);
  });

  it('has fetched the list when it is open', async () => {
    const opened = await open(60, answer(VISION));
    assert.deepEqual([opened.isAvailable(), imagesOf(opened), logged.lines], [true, IMAGES, []]);
    assert.equal(opened.costMicrocredits('demo/chat', { ...NO_TOKENS, promptTokens: 1_000_000 }), 1e8);
  });

  const unreadable: [string, [number, string]][] = [
    ['a status that is not a success', [503, JSON.stringify(VISION)]],
    ['no JSON', [200, '<html>']],
    ['another shape', answer({ models: [] })],
    ['a wrong price', answer({ 'demo/chat': { price: { input: -1, output: 0 } } })],
    ['a new provider without *', answer({ 'acme/one': { tools: true } })],
    ['more bytes than a list has', [200, `{}${' '.repeat(8 * 1024 * 1024)}`]],
  ];
  for (const [name, wrong] of unreadable) {
    it(`is unavailable, and the shipped list, when the first answer is ${name}`, async () => {
      const opened = await open(60, wrong);
      assert.deepEqual([opened.isAvailable(), imagesOf(opened)], [false, []]);
      assert.equal(logged.lines.length, 1);
      assert.doesNotMatch(JSON.stringify(logged.lines), /secret/);
    });

    it(`keeps the last good list when a later answer is ${name}`, async () => {
      const opened = await open(0.0001, answer(VISION), wrong);
      // When it asks again, it is done with the answer before.
      await once(asked, 'asked');
      await once(asked, 'asked');
      assert.deepEqual([opened.isAvailable(), imagesOf(opened)], [true, IMAGES]);
    });
  }

  it('becomes available, and the newest list counts, once one can be fetched', async () => {
    const opened = await open(0.0001, [500, ''], answer({}), answer(VISION));
    for (let fetched = 0; fetched < 3; fetched++) await once(asked, 'asked');
    assert.deepEqual([opened.isAvailable(), imagesOf(opened)], [true, IMAGES]);
  });

  it('is configured by an http or https URL without user info', () => {
    const env = {
      DATABASE_URL: 'postgres://127.0.0.1/weir',
      WEIR_API_KEY_PEPPER: 'a pepper of at least thirty-two characters',
      WEIR_SECRETS_KEYS: SECRETS_KEYS,
    };
    const { modelsUrl, modelsRefreshMinutes } = readConfig({
      ...env,
      WEIR_MODELS_URL: 'https://a.example/m',
    });
    assert.deepEqual([modelsUrl, modelsRefreshMinutes], ['https://a.example/m', 60]);
    for (const WEIR_MODELS_URL of ['file:///etc/models.json', 'models.json', 'https://me:secret@a.example/'])
      assert.throws(() => readConfig({ ...env, WEIR_MODELS_URL }), /WEIR_MODELS_URL/);
    for (const WEIR_MODELS_REFRESH of ['0', 'x', '10081'])
      assert.throws(() => readConfig({ ...env, WEIR_MODELS_REFRESH }), /WEIR_MODELS_REFRESH/);
  });
});
