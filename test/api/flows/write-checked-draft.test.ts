import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { writeCheckedDraft } from '../../../api/flows/recorded-flow-writes.ts';
import type { FlowDefinition } from '../../../flow/definition.ts';
import { createFairQueue } from '../../../platform/limits/fair-queue.ts';
import { passthrough } from '../../blocks.ts';

const draftOf = (stepId: string): FlowDefinition => ({ steps: [passthrough(stepId)] });

describe('a write to a flow whose draft is checked', () => {
  const definitions = createFairQueue({ capacity: 4, perKeyMax: 2 });
  const measure = async () => 2;
  afterEach(() => {
    mock.restoreAll();
  });

  /** Writes while the flow has, one time after the other, the drafts of these steps; answers which were checked and written. */
  async function write(found: string, ...locked: string[]) {
    const checked: string[] = [];
    const nameOf = ({ steps }: FlowDefinition) => steps[0]?.step_id ?? '';
    const written = await writeCheckedDraft<string>(
      { definitions, organizationId: 'acme', measure, gone: new AbortController().signal },
      async () => ({ draft: draftOf(found) }),
      async (draft) => {
        checked.push(nameOf(draft));
        if (nameOf(draft) === 'wrong') throw new Error('wrong');
      },
      (ifChecked) => {
        const draft = draftOf(locked.shift() ?? '');
        return ifChecked(draft, async () => nameOf(draft));
      },
    );
    return { checked, written };
  }

  it('is done once that is sound', async () => {
    assert.deepEqual(await write('a', 'a'), { checked: ['a'], written: 'a' });
  });

  it('is done with no draft that was not checked, although it changed meanwhile', async () => {
    assert.deepEqual(await write('a', 'b', 'c', 'c'), { checked: ['a', 'b', 'c'], written: 'c' });
    await assert.rejects(write('a', 'wrong', 'wrong'), /wrong/);
  });

  it('gets its draft when the drafts of the same organization leave room for it', async () => {
    const order: string[] = [];
    const publish = (organizationId: string, name: string) =>
      writeCheckedDraft<string>(
        { definitions, organizationId, measure, gone: new AbortController().signal },
        async () => {
          order.push(`find ${name}`);
          return { draft: draftOf(name) };
        },
        () => setImmediate(),
        (ifChecked) =>
          ifChecked(draftOf(name), async () => {
            order.push(`write ${name}`);
            return name;
          }),
      );
    await Promise.all([publish('a', 'a1'), publish('a', 'a2'), publish('b', 'b1')]);
    assert.deepEqual(order, ['find a1', 'find b1', 'write a1', 'find a2', 'write b1', 'write a2']);
  });

  it('leaves the line when its caller has gone, or its turn does not come in time', async () => {
    const draft = draftOf('a');
    const checking = Promise.withResolvers<void>();
    const publish = (check: () => Promise<void>, gone = new AbortController().signal) =>
      writeCheckedDraft(
        { definitions, organizationId: 'acme', measure, gone },
        async () => ({ draft }),
        check,
        (ifChecked) => ifChecked(draft, async () => 'written'),
      );
    const first = publish(() => checking.promise);
    const neverChecked = () => assert.fail('it was checked');
    const caller = new AbortController();
    const left = publish(neverChecked, caller.signal);
    caller.abort();
    await assert.rejects(left, { code: 'REQUEST_TIMEOUT' });
    const late = new AbortController();
    mock.method(AbortSignal, 'timeout', () => late.signal);
    const refused = publish(neverChecked);
    late.abort();
    await assert.rejects(refused, { code: 'RATE_LIMITED' });
    checking.resolve();
    assert.equal(await first, 'written');
  });
});
