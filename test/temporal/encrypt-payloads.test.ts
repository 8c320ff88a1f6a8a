import assert from 'node:assert/strict';
import { defaultPayloadConverter, type Payload, type WorkflowSerializationContext } from '@temporalio/common';
import { encryptPayloads } from '../../temporal/data-converter.ts';

const old = { id: 'old', key: Buffer.alloc(32, 'o') };
const fresh = { id: 'fresh', key: Buffer.alloc(32, 'f') };
const inside = (workflowId: string): WorkflowSerializationContext => ({
  type: 'workflow',
  namespace: 'default',
  workflowId,
});
const here = inside('run-1');
const plain = defaultPayloadConverter.toPayload({ text: 'secret words' });
const withOld = encryptPayloads({ keys: [old], encrypts: true });
const rotated = encryptPayloads({ keys: [fresh, old], encrypts: true });

async function encrypted(codec = withOld, context = here): Promise<Payload> {
  const [payload] = await codec.encode([plain], context);
  return payload as Payload;
}

const read = async (codec: typeof withOld, payload: Payload, context?: WorkflowSerializationContext) =>
  defaultPayloadConverter.fromPayload((await codec.decode([payload], context))[0] as Payload);

describe('payloads that are encrypted', () => {
  it('are read again, and differ each time', async () => {
    const [one, two] = [await encrypted(), await encrypted()];
    assert.notDeepEqual(one.data, two.data);
    assert.doesNotMatch(Buffer.from(one.data ?? []).toString('latin1'), /secret|json\/plain/);
    for (const payload of [one, two])
      assert.deepEqual(await read(withOld, payload, here), { text: 'secret words' });
  });

  it('can be read under an old key when another one encrypts', async () => {
    assert.deepEqual(await read(rotated, await encrypted(), here), { text: 'secret words' });
    await assert.rejects(
      read(withOld, await encrypted(rotated), here),
      /under the key fresh, which is not in WEIR_TEMPORAL_KEYS/,
    );
  });

  it('can be read by a process that does not encrypt but has the keys', async () => {
    const reading = encryptPayloads({ keys: [old], encrypts: false });
    assert.deepEqual(await read(reading, await encrypted(), here), { text: 'secret words' });
    assert.deepEqual(await reading.encode([plain], here), [plain]);
  });

  it('name the key to a process that has none', async () => {
    const none = encryptPayloads({ keys: [], encrypts: false });
    await assert.rejects(
      read(none, await encrypted(), here),
      /workflow run-1 is encrypted under the key old, which is not/,
    );
  });

  it('stay readable where they were stored before encryption was on', async () => {
    assert.deepEqual(await read(withOld, plain, here), { text: 'secret words' });
  });

  it('are refused when a byte of them was changed, or the key is another of the same id', async () => {
    const payload = await encrypted();
    const data = Uint8Array.from(payload.data ?? []);
    for (const at of [0, 20, data.length - 1]) {
      const changed = Uint8Array.from(data);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await assert.rejects(read(withOld, { ...payload, data: changed }, here), /cannot be decrypted/);
    }
    for (const length of [0, 12, 27])
      await assert.rejects(
        read(withOld, { ...payload, data: data.subarray(0, length) }, here),
        /cannot be decrypted/,
      );
    const other = encryptPayloads({ keys: [{ ...fresh, id: 'old' }], encrypts: true });
    await assert.rejects(read(other, payload, here), /another key with that id/);
  });

  it('are refused in another workflow, whatever workflow they say they are of', async () => {
    const payload = await encrypted();
    await assert.rejects(read(withOld, payload, inside('run-2')), /run-1 is refused in workflow run-2/);
    const claimed = { ...payload, metadata: { ...payload.metadata, 'workflow-id': Buffer.from('run-2') } };
    await assert.rejects(read(withOld, claimed, inside('run-2')), /cannot be decrypted/);
    assert.equal(withOld.findWorkflowId(payload), 'run-1');
    assert.equal(withOld.findWorkflowId(plain), undefined);
  });
});
