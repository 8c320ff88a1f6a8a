import assert from 'node:assert/strict';
import {
  ATTACHMENTS_MAX,
  FILENAME_MAX_LENGTH,
  readAttachments,
} from '../../../api/runs/run-shapes/attachments.ts';
import { getRunInput } from '../../../db/runs/runs.ts';
import type { Step } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { URL_MAX_LENGTH } from '../../../platform/net/parse-https-url.ts';
import { createResolvePublic } from '../../../platform/net/resolve-public.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer, type FakeModelServer, startFakeModelServer } from '../../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

const VISION = 'openai/gpt-4o-mini';
const BLIND = 'openai/o3-mini';
const GOOGLE = 'google/gemini-2.5-pro';
const HOST = 'https://images.example';
const png = { kind: 'url', url: `${HOST}/cat.png`, mime_type: 'image/png' };
/** Makes a URL of exactly so many characters. */
const urlOf = (length: number) => `${HOST}/${'a'.repeat(length - HOST.length - 1)}`;

describe('attachments', () => {
  let models: FakeModelServer;
  let weir: Weir;
  let tenant: Tenant;
  let empty: string;
  before(async () => {
    models = await startFakeModelServer();
    const dialled = JSON.stringify({ 'images.example': '127.0.0.1:9' });
    const { baseUrl } = models.provider;
    weir = await startWeir({ env: { WEIR_TEST_DIAL_MAP: dialled, OPENAI_BASE_URL: baseUrl } });
    tenant = await weir.createTenant();
    empty = await weir.createFlow(tenant, []);
  });
  after(async () => {
    await weir.stop();
    await models.close();
  });

  const send = (endpoint: string, flow: string, body: object, at = weir, key = tenant.key) =>
    at.call('POST', `${flow}/${endpoint}`, { key, body: { message: 'What is this?', ...body } });
  const attach = (attachments: unknown, flow = empty, more = {}) =>
    send('execute', flow, { attachments, ...more });

  describe('200', () => {
    it('reach every llm block as image parts after its prompt, and no block without attachments', async () => {
      const flow = await weir.createFlow(tenant, [
        llm('look', 'First: {{message}}', VISION),
        llm('think', 'Then: {{previous_output}}', VISION),
      ]);
      models.will(answer('A cat'), answer('Yes'), answer('None'), answer('No'));
      const gif = { kind: 'url', url: `${HOST}/a.gif?b=c#d`, mime_type: 'image/gif', filename: 'dog.gif' };
      assert.equal((await attach([png, gif], flow)).body.result, 'Yes');
      await attach([], flow);
      const images = [`${HOST}/cat.png`, `${HOST}/a.gif?b=c#d`].map((url) => ({
        type: 'image_url',
        image_url: { url },
      }));
      assert.deepEqual(
        models.calls.map(({ body }) => body.messages),
        [
          [{ role: 'user', content: [{ type: 'text', text: 'First: What is this?' }, ...images] }],
          [{ role: 'user', content: [{ type: 'text', text: 'Then: A cat' }, ...images] }],
          [{ role: 'user', content: 'First: What is this?' }],
          [{ role: 'user', content: 'Then: None' }],
        ],
      );
    });

    const names: [string, object, string][] = [
      ['the given one', { filename: 'a b.png' }, 'a b.png'],
      ['the last segment of the path, decoded', { url: `${HOST}/x/b%C3%BCcher%20a.png?c/d` }, 'bücher a.png'],
      ['one by the MIME type for a URL without path', { url: HOST }, 'image.png'],
      ['one by the MIME type when the segment holds a slash', { url: `${HOST}/a%2Fb.png` }, 'image.png'],
      ['one by the MIME type when the segment holds ..', { url: `${HOST}/a..png` }, 'image.png'],
      ['one by the MIME type when the segment is too long', { url: urlOf(URL_MAX_LENGTH) }, 'image.png'],
      ['the segment as it is when it is not encoded text', { url: `${HOST}/a%ff.png` }, 'a%ff.png'],
    ];
    for (const [rule, more, filename] of names)
      it(`are kept with the run, their filename ${rule}`, async () => {
        const { body } = await attach([{ ...png, ...more }]);
        const { attachments } = await getRunInput(weir.db, body.executionId);
        const { url } = { ...png, ...more };
        assert.deepEqual(attachments, [{ ...png, url, filename }]);
      });

    const atTheLimit: [string, object[]][] = [
      [`${ATTACHMENTS_MAX} attachments`, Array(ATTACHMENTS_MAX).fill(png)],
      [`a URL of ${URL_MAX_LENGTH} characters`, [{ ...png, url: urlOf(URL_MAX_LENGTH) }]],
      [
        `a filename of ${FILENAME_MAX_LENGTH} characters`,
        [{ ...png, filename: 'a'.repeat(FILENAME_MAX_LENGTH) }],
      ],
      [
        `a filename of ${FILENAME_MAX_LENGTH} characters of two UTF-16 units each`,
        [{ ...png, filename: '😀'.repeat(FILENAME_MAX_LENGTH) }],
      ],
      ['a filename with single dots', [{ ...png, filename: '.a.b.' }]],
      ['a public address as host', [{ ...png, url: 'https://8.8.8.8/cat.png' }]],
      ...['image/jpeg', 'image/png', 'image/webp', 'image/gif'].map((mime_type): [string, object[]] => [
        mime_type,
        [{ ...png, mime_type }],
      ]),
    ];
    for (const [name, attachments] of atTheLimit)
      it(`take ${name}`, async () => {
        assert.equal((await attach(attachments)).status, 200);
        assert.equal((await send('jobs', empty, { attachments })).status, 202);
      });

    it('are part of what a fork starts with', async () => {
      const flow = await weir.createFlow(tenant, [passthrough('a')]);
      const { executionId } = (await attach([png], flow)).body;
      const fork = await weir.call('GET', `${flow}/jobs/${executionId}/fork?step=0`, { key: tenant.key });
      assert.deepEqual(fork.body.attachments, [{ ...png, filename: 'cat.png' }]);
    });

    it('whose URLs are longer once they are encoded run, are forked and run again', async () => {
      const flow = await weir.createFlow(tenant, [llm('look', 'x', VISION), passthrough('end')]);
      const url = `${HOST}/${'é'.repeat(URL_MAX_LENGTH - HOST.length - 1)}`;
      models.will(answer('A cat'), answer('Again'), answer('Forked'));
      const { executionId, status } = (await attach([{ ...png, url }], flow)).body;
      assert.equal(status, 'completed');
      const sent = models.calls.at(-1)?.body.messages as { content: { image_url?: { url: string } }[] }[];
      assert.equal(sent[0]?.content[1]?.image_url?.url, new URL(url).href);
      const at = (path: string) => `${flow}/jobs/${executionId}/${path}`;
      const again = await weir.call('POST', at('rerun'), { key: tenant.key });
      assert.equal(again.status, 202, JSON.stringify(again.body));
      await weir.finish(flow, again.body.executionId, tenant.key);
      const { body: fork } = await weir.call('GET', at('fork?step=0'), { key: tenant.key });
      assert.equal(fork.attachments[0].url, url);
      const forked = await fetch(`${weir.url}/api/v1/seq/${flow}/step`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(fork),
      });
      assert.equal(forked.status, 200);
      assert.match(await forked.text(), /event: block_completed/);
    });

    it('matter to no block without a model', async () => {
      const flow = await weir.createFlow(tenant, [code('count', 'return 1;')]);
      assert.equal((await attach([png], flow)).body.result, 1);
    });
  });

  describe('400', () => {
    it('answers ATTACHMENT_BLOCKED_HOST when any one address of a host is not public', async () => {
      const resolvePublic = createResolvePublic({ lookup: async () => ['8.8.8.8', '127.0.0.1'] });
      await assert.rejects(
        readAttachments([png], resolvePublic),
        (error) => error instanceof ServiceError && error.code === 'ATTACHMENT_BLOCKED_HOST',
      );
    });

    it('answers ATTACHMENT_BLOCKED_HOST when a host cannot be resolved, and says so', async () => {
      await assert.rejects(
        readAttachments([png], createResolvePublic({ lookup: async () => [] })),
        (error) =>
          error instanceof ServiceError &&
          error.code === 'ATTACHMENT_BLOCKED_HOST' &&
          error.message === 'attachments.0.url: images.example cannot be resolved.',
      );
    });

    it('looks each host up once, and none when there is another mistake', async () => {
      const looked: string[] = [];
      const resolvePublic = createResolvePublic({
        async lookup(hostname) {
          looked.push(hostname);
          return ['8.8.8.8'];
        },
      });
      await assert.rejects(readAttachments([png, { ...png, mime_type: '' }], resolvePublic));
      assert.deepEqual(looked, []);
      await readAttachments([png, { ...png, url: `${HOST}/dog.png` }], resolvePublic);
      assert.deepEqual(looked, ['images.example']);
    });

    const incompatible: [string, string, object, string[], string][] = [
      ['a model without images', BLIND, {}, ['image/png'], BLIND],
      ['one of the MIME types', GOOGLE, {}, ['image/webp', 'image/gif'], GOOGLE],
      ['the model that an override chooses', VISION, { look: { model: BLIND } }, ['image/png'], BLIND],
      ['a server that takes no URLs', 'ollama/llava', {}, ['image/png'], 'ollama/llava'],
      ['a model nobody knows', 'acme/one', {}, ['image/png'], 'acme/one'],
    ];
    for (const [name, model, block_overrides, mimeTypes, expected] of incompatible)
      it(`answers MODEL_MIME_INCOMPATIBLE for ${name}, and stores no run`, async () => {
        const body = [llm('look', '', model)];
        const each: Step = { type: 'loop', step_id: 'each', name: 'each', max_iterations: 1, body };
        const both: Step = { type: 'parallel', step_id: 'both', name: 'both', branches: { a: [each] } };
        const flow = await weir.createFlow(tenant, [llm('first', 'Hello', VISION), both]);
        const attachments = mimeTypes.map((mime_type) => ({ ...png, mime_type }));
        const answered = await attach(attachments, flow, { block_overrides });
        assert.equal(answered.status, 400);
        const { message, ...detail } = answered.body.detail;
        assert.deepEqual(detail, {
          code: 'MODEL_MIME_INCOMPATIBLE',
          step_id: 'look',
          model: expected,
          unsupported_mime: mimeTypes.at(-1),
          index: mimeTypes.length - 1,
        });
        const { body: list } = await weir.call('GET', `${flow}/runs`, { key: tenant.key });
        assert.deepEqual(list.runs, []);
      });

    it('takes the model that an override chooses instead of one without images', async () => {
      const flow = await weir.createFlow(tenant, [llm('look', '', BLIND)]);
      models.will(answer('A cat'));
      const { body } = await attach([png], flow, { block_overrides: { look: { model: VISION } } });
      assert.equal(body.result, 'A cat');
    });
  });

  describe('503', () => {
    it('answers DNS_UNAVAILABLE with the index when a host could not be looked up', async () => {
      const resolvePublic = createResolvePublic({
        lookup: async (hostname) => {
          if (hostname === 'images.example') return ['8.8.8.8'];
          throw Object.assign(new Error('queryA ESERVFAIL'), { code: 'ESERVFAIL' });
        },
      });
      const failing = { ...png, url: 'https://pictures.example/cat.png' };
      await assert.rejects(readAttachments([png, failing], resolvePublic), {
        code: 'DNS_UNAVAILABLE',
        message: 'attachments.1.url: pictures.example could not be looked up: send the request again.',
        extra: { index: 1 },
      });
    });

    it('answers CAPABILITY_REGISTRY_UNAVAILABLE until the list at WEIR_MODELS_URL was read, to images only', async () => {
      // Nothing listens there.
      const env = { WEIR_MODELS_URL: 'http://127.0.0.1:9/models.json' };
      const waiting = await startWeir({ worker: false, env });
      try {
        const { key, ...other } = await waiting.createTenant();
        const flow = await waiting.createFlow({ key, ...other }, [llm('look', '', VISION)]);
        const attachments = [{ ...png, url: 'https://8.8.8.8/' }];
        const { status, headers, body } = await send('jobs', flow, { attachments }, waiting, key);
        assert.deepEqual([status, body.detail.code], [503, 'CAPABILITY_REGISTRY_UNAVAILABLE']);
        assert.equal(headers.get('retry-after'), '60');
        assert.equal((await send('jobs', flow, {}, waiting, key)).status, 202);
      } finally {
        await waiting.stop();
      }
    });
  });
});
