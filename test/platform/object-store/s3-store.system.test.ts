import assert from 'node:assert/strict';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { readConfig } from '../../../platform/config/config.ts';
import {
  hashOf,
  ObjectLost,
  type ObjectStore,
  type ObjectStoreOptions,
  ObjectStoreUnavailable,
} from '../../../platform/object-store/object-store.ts';
import { openObjectStore } from '../../../platform/object-store/open-object-store.ts';
import { createS3Store, signUrl } from '../../../platform/object-store/s3-store.ts';
import { startTcpProxy, type TcpProxy } from '../../fakes/tcp-proxy.ts';
import { waitUntil } from '../../wait-until.ts';
import { BUILD_MAX_MS } from './s3-binary.ts';
import { BUCKET, describeWithS3, type S3Server, startS3Server } from './s3-server.ts';

const REQUIRED = {
  DATABASE_URL: 'postgres://127.0.0.1/weir',
  WEIR_API_KEY_PEPPER: 'p'.repeat(32),
  WEIR_SECRETS_KEYS: `k:${Buffer.alloc(32).toString('base64')}`,
};

function optionsOf(env: NodeJS.ProcessEnv): ObjectStoreOptions {
  return readConfig({ ...REQUIRED, ...env }).objectStore ?? assert.fail('There are no options.');
}

async function open(env: NodeJS.ProcessEnv): Promise<ObjectStore> {
  return (await openObjectStore(optionsOf(env))) ?? assert.fail('There is no store.');
}

async function describeObject(store: ObjectStore, key: string, text: string) {
  const bytes = Buffer.from(text) as Buffer<ArrayBuffer>;
  const object = { location: store.locate(key), bytes: bytes.length, sha256: await hashOf(bytes) };
  return { object, bytes };
}

describeWithS3('the object store', function () {
  this.timeout(BUILD_MAX_MS);
  let server: S3Server;
  let proxy: TcpProxy;
  let store: ObjectStore;
  before(async () => {
    server = await startS3Server();
    proxy = await startTcpProxy(server.url);
    store = await open({ ...server.env, WEIR_OBJECT_STORE_ENDPOINT: proxy.url });
  });
  after(async () => {
    store.close();
    await proxy.close();
    await server.stop();
  });
  const write = async (key: string, text: string) => {
    const { object, bytes } = await describeObject(store, key, text);
    await store.put(object, bytes);
    return object;
  };

  it('gives back the bytes that were written, under its prefix', async () => {
    const text = `"${'ä'.repeat(4_000_000)}"`;
    const object = await write('org/call/name', text);
    assert.equal((await store.get(object)).toString(), text);
    assert.deepEqual(await server.keys(), ['runs/org/call/name']);
  });

  it('writes nothing when the bytes are not those of the hash, and takes the right ones at once', async () => {
    const other = createS3Store(optionsOf(server.env));
    const { object } = await describeObject(other, 'org/call/wrong', 'one');
    await assert.rejects(other.put(object, Buffer.from('two')), ObjectStoreUnavailable);
    assert.ok(!(await server.keys()).includes('runs/org/call/wrong'));
    await other.put(object, Buffer.from('one'));
    assert.equal((await other.get(object)).toString(), 'one');
    other.close();
  });

  it('says that an object is lost when it is missing, shorter, longer or has other bytes', async () => {
    const object = await write('org/call/lost', '"abc"');
    for (const Body of ['"ab"', '"abcd"', '"abd"']) {
      await server.client.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'runs/org/call/lost', Body }));
      await assert.rejects(store.get(object), ObjectLost);
    }
    await store.remove([object.location]);
    await assert.rejects(store.get(object), ObjectLost);
  });

  it('deletes many objects at once, also those that are gone', async () => {
    const objects = [];
    for (const name of ['a', 'b']) objects.push(await write(`org/gone/${name}`, name));
    const locations = [...objects.map(({ location }) => location), store.locate('org/gone/never')];
    assert.deepEqual(await store.remove(locations), locations);
    assert.deepEqual(await server.keys('gone'), []);
  });

  it('signs URLs of five minutes that save the object as JSON, and give nothing else', async () => {
    const object = await write('org/call/signed', '{"<script>":1}');
    const other = await write('org/call/other', '2');
    const { url, expiresAt } = await store.sign(object);
    assert.ok(Math.abs(expiresAt.getTime() - Date.now() - 300_000) < 60_000);
    assert.equal(new URL(url).searchParams.get('X-Amz-Expires'), '300');
    const answer = await fetch(url);
    assert.equal(await answer.text(), '{"<script>":1}');
    assert.equal(answer.headers.get('content-type'), 'application/json');
    assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="output.json"');
    const changed = url.replace('call/signed', 'call/other');
    assert.notEqual(changed, url);
    assert.equal((await fetch(changed)).status, 403);
    assert.equal((await fetch(url.split('?')[0] ?? '')).status, 403);
    const list = new URL(url);
    list.pathname = `/${BUCKET}`;
    assert.equal((await fetch(list)).status, 403);
    await store.remove([other.location]);
  });

  it('signs URLs that are refused when their time is over', async () => {
    const Body = 'what was asked for';
    await server.client.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'runs/short', Body }));
    const { url } = await signUrl(server.client, { Bucket: BUCKET, Key: 'runs/short' }, 1);
    const refusal = await waitUntil(async () => {
      const answer = await fetch(url);
      const text = await answer.text();
      return answer.status !== 200 && { status: answer.status, text };
    });
    assert.equal(refusal.status, 403);
    assert.ok(!refusal.text.includes(Body));
  });

  it('signs URLs for the address at which callers reach the store', async () => {
    const other = await open({
      ...server.env,
      WEIR_OBJECT_STORE_PUBLIC_ENDPOINT: 'https://files.example.com',
    });
    const { url } = await other.sign({ location: other.locate('a'), bytes: 1, sha256: '' });
    assert.equal(new URL(url).host, 'files.example.com');
    other.close();
  });

  it('tells why it cannot serve', async () => {
    assert.equal(await store.findProblem(10_000), undefined);
    const problems = {
      'has no such bucket': { WEIR_OBJECT_STORE: 's3://other-bucket' },
      'refuses the credentials': { AWS_SECRET_ACCESS_KEY: 'another' },
      'does not answer': { WEIR_OBJECT_STORE_ENDPOINT: 'http://127.0.0.1:1' },
    };
    for (const [problem, env] of Object.entries(problems)) {
      const wrong = await open({ ...server.env, ...env });
      assert.equal(await wrong.findProblem(10_000), problem);
      const { object, bytes } = await describeObject(wrong, 'x/y/z', '"x"');
      await assert.rejects(wrong.put(object, bytes), ObjectStoreUnavailable);
      assert.ok(await wrong.findProblem(10_000));
      await assert.rejects(wrong.get(object), ObjectStoreUnavailable);
      await assert.rejects(wrong.remove([object.location]), ObjectStoreUnavailable);
      wrong.close();
    }
  });

  it('says that it takes no writes for a minute after one has failed, or until it takes one', async () => {
    let now = 0;
    const refusing = createS3Store(optionsOf(server.env), () => now);
    const { object, bytes } = await describeObject(refusing, 'org/call/refused', 'one');
    const fail = () => assert.rejects(refusing.put(object, Buffer.from('two')), ObjectStoreUnavailable);
    await fail();
    assert.equal(await refusing.findProblem(10_000), 'takes no writes');
    now += 30_000;
    await fail();
    now += 59_999;
    assert.equal(await refusing.findProblem(10_000), 'takes no writes');
    now += 1;
    assert.equal(await refusing.findProblem(10_000), undefined);
    await fail();
    assert.equal(await refusing.findProblem(10_000), 'takes no writes');
    now += 30_000;
    await refusing.put(object, bytes);
    assert.equal(await refusing.findProblem(10_000), undefined);
    refusing.close();
  });

  it('gives up a store that is silent, in the midst of an object too, and goes on when it is back', async () => {
    const object = await write('org/call/silent', `"${'x'.repeat(8_000_000)}"`);
    proxy.silenceAfter(1_000_000);
    await assert.rejects(store.get(object), ObjectStoreUnavailable);
    await assert.rejects(store.get(object), ObjectStoreUnavailable);
    const { object: second, bytes } = await describeObject(store, 'org/call/second', '"x"');
    await assert.rejects(store.put(second, bytes), ObjectStoreUnavailable);
    await proxy.restore();
    assert.equal((await store.get(object)).length, object.bytes);
  });
});

describe('the variables of the object store', () => {
  it('are off by default', () => assert.equal(readConfig(REQUIRED).objectStore, undefined));

  it('name a bucket and the start of keys', () => {
    const { bucket, prefix } = optionsOf({ WEIR_OBJECT_STORE: 's3://bucket-1/weir/prod/' });
    assert.deepEqual([bucket, prefix], ['bucket-1', 'weir/prod/']);
    assert.equal(optionsOf({ WEIR_OBJECT_STORE: 's3://bucket' }).prefix, '');
  });

  for (const wrong of [
    'bucket',
    'https://x/y',
    's3://',
    's3://A',
    's3://b c',
    's3://bucket/../x',
    's3://bucket/a b',
    's3://bucket//x',
  ])
    it(`refuse ${wrong}`, () =>
      assert.throws(() => optionsOf({ WEIR_OBJECT_STORE: wrong }), /WEIR_OBJECT_STORE must have the form/));

  it('ask for encryption by the store, with its key or one of ours', () => {
    const of = (text: string) =>
      optionsOf({ WEIR_OBJECT_STORE: 's3://bucket', WEIR_OBJECT_STORE_ENCRYPTION: text }).encryption;
    assert.deepEqual(of('AES256'), { algorithm: 'AES256' });
    assert.deepEqual(of('aws:kms'), { algorithm: 'aws:kms' });
    assert.deepEqual(of('aws:kms:alias/weir'), { algorithm: 'aws:kms', keyId: 'alias/weir' });
    assert.throws(() => of('rot13'), /WEIR_OBJECT_STORE_ENCRYPTION must be/);
  });

  it('put the bucket into the path for a store with an endpoint of its own', () => {
    const on = { WEIR_OBJECT_STORE: 's3://bucket' };
    assert.equal(optionsOf(on).pathStyle, false);
    assert.equal(optionsOf({ ...on, WEIR_OBJECT_STORE_ENDPOINT: 'http://127.0.0.1:9000' }).pathStyle, true);
  });
});
