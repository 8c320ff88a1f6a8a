import assert from 'node:assert/strict';
import { ApiError, unreachable } from '../../../../console/api/api-error.ts';
import { setUpDraft, step } from './set-up-draft.ts';

describe('an edited draft', () => {
  it('is saved after the last of several changes, once, with the ETag that was read', async () => {
    const { store, service, write, pass } = setUpDraft();
    write('x');
    write('xy');
    assert.equal(store.state().saveState, 'unsaved');
    await pass();
    assert.deepEqual(service.saves, [{ steps: [step('a', 'xy')], etag: '"1"' }]);
    assert.equal(store.state().saveState, 'saved');
    write('xyz');
    await pass();
    assert.equal(service.saves[1]?.etag, '"2"');
  });

  it('has one save in flight; a change meanwhile is saved next', async () => {
    const { store, service, write, timers } = setUpDraft();
    const held = Promise.withResolvers<void>();
    service.answer = async (take) => {
      await held.promise;
      return take();
    };
    write('first');
    const flushed = store.flush();
    write('second');
    const again = store.flush();
    assert.equal(service.saves.length, 1);
    held.resolve();
    assert.deepEqual(await Promise.all([flushed, again]).then(() => store.flush()), true);
    assert.deepEqual(service.steps(), [step('a', 'second')]);
    assert.equal(store.state().saveState, 'saved');
    assert.equal(timers.pending, undefined);
  });

  it('does not overwrite a change made elsewhere: the user can take it, and undo that', async () => {
    const { store, service, write, pass } = setUpDraft();
    write('mine');
    service.changeElsewhere([step('a', 'theirs')]);
    await pass();
    assert.equal(store.state().saveState, 'conflict');
    assert.deepEqual(service.steps(), [step('a', 'theirs')]);
    assert.deepEqual(store.state().steps, [step('a', 'mine')]);
    await store.resolve('theirs');
    assert.deepEqual(store.state().steps, [step('a', 'theirs')]);
    assert.equal(store.state().saveState, 'saved');
    store.undoElsewhere();
    assert.deepEqual(store.state().steps, [step('a', 'mine')]);
  });

  it('stops undo at a change made elsewhere until the user confirms', async () => {
    const { store, service, write, pass } = setUpDraft();
    write('mine');
    await pass();
    service.changeElsewhere([step('a', 'mine'), step('b', 'theirs')]);
    await store.refresh();
    store.undo();
    store.undo();
    assert.equal(store.state().asksUndo, true);
    assert.equal(store.state().saveState, 'saved');
    assert.deepEqual(store.state().steps, [step('a', 'mine'), step('b', 'theirs')]);
    store.keepElsewhere();
    assert.equal(store.state().asksUndo, false);
    store.change('more', (steps) => [...steps, step('c')]);
    store.undo();
    assert.equal(store.state().asksUndo, false);
    store.undo();
    store.undoElsewhere();
    assert.equal(store.state().asksUndo, false);
    assert.deepEqual(store.state().steps, [step('a', 'mine')]);
    store.undoElsewhere();
    assert.deepEqual(store.state().steps, [step('a', 'mine')]);
    store.undo();
    assert.deepEqual(store.state().steps, [step('a')]);
  });

  it('replaces a change made elsewhere only when the user says so, and only the one that was shown', async () => {
    const { store, service, write, pass } = setUpDraft();
    write('mine');
    service.changeElsewhere([step('a', 'theirs')]);
    await pass();
    service.changeElsewhere([step('a', 'later')]);
    await store.resolve('mine');
    assert.equal(store.state().saveState, 'conflict');
    assert.deepEqual(store.state().conflict?.steps, [step('a', 'later')]);
    await store.resolve('mine');
    assert.deepEqual(service.steps(), [step('a', 'mine')]);
    assert.equal(store.state().saveState, 'saved');
  });

  it('can be edited during a conflict, without being saved', async () => {
    const { store, service, write, pass } = setUpDraft();
    write('mine');
    service.changeElsewhere([step('a', 'theirs')]);
    await pass();
    write('mine too');
    await pass();
    assert.equal(service.saves.length, 1);
    assert.equal(await store.flush(), false);
  });

  it('recognizes its own save when the response was lost', async () => {
    const { store, service, write, pass } = setUpDraft();
    service.answer = (take) => {
      take();
      return { type: 'failed', message: 'The service cannot be reached.' };
    };
    write('mine');
    await store.flush();
    assert.equal(store.state().saveState, 'offline');
    service.answer = undefined;
    write('mine, and more');
    await pass();
    await pass();
    assert.equal(store.state().saveState, 'saved');
    assert.deepEqual(service.steps(), [step('a', 'mine, and more')]);
  });

  it('keeps its problems when it is refused, and counts as saved once the change is undone', async () => {
    const { store, service, write, pass } = setUpDraft();
    const problems = [{ path: 'steps[0].prompt', message: 'is too long' }];
    service.answer = () => ({ type: 'refused', message: 'No.', problems });
    write('wrong');
    await pass();
    assert.equal(store.state().saveState, 'refused');
    assert.deepEqual(store.state().problems, [{ stepId: 'a', field: 'prompt', message: 'is too long' }]);
    assert.deepEqual(store.state().steps, [step('a', 'wrong')]);
    store.undo();
    assert.equal(store.state().saveState, 'saved');
    assert.deepEqual(store.state().problems, []);
  });

  it('learns from a save that its flow was deleted', async () => {
    const { store, service, write, pass } = setUpDraft();
    service.answer = () => ({ type: 'deleted' });
    write('mine');
    await pass();
    const { isDeleted, saveState, steps } = store.state();
    assert.deepEqual([isDeleted, saveState, steps], [true, 'unsaved', [step('a', 'mine')]]);
  });

  it('learns from a poll that its flow was deleted, and not from a failed one', async () => {
    const { store, service } = setUpDraft();
    service.readError = unreachable('GET');
    await store.refresh();
    assert.equal(store.state().isDeleted, false);
    service.readError = new ApiError(404, { code: 'NOT_FOUND', message: 'There is no such flow.' });
    await store.refresh();
    assert.equal(store.state().isDeleted, true);
  });

  it('adopts a change made elsewhere only while everything is saved', async () => {
    const { store, service, write } = setUpDraft();
    service.changeElsewhere([step('a', 'theirs')]);
    await store.refresh();
    assert.deepEqual(store.state().steps, [step('a', 'theirs')]);
    assert.equal(store.state().takenOver, 1);
    await store.refresh();
    assert.equal(store.state().takenOver, 1);
    write('mine');
    service.changeElsewhere([step('a', 'theirs again')]);
    await store.refresh();
    assert.deepEqual(store.state().steps, [step('a', 'mine')]);
  });

  it('undoes typing in one field at once, and other changes one by one', () => {
    const { store, write, timers } = setUpDraft();
    write('h');
    write('he');
    write('x', 'another field');
    timers.now = 60_000;
    write('xx', 'another field');
    const back = () => {
      store.undo();
      return (store.state().steps[0] as { prompt?: string }).prompt;
    };
    assert.deepEqual([back(), back(), back(), back()], ['x', 'he', '', '']);
    store.redo();
    store.redo();
    assert.deepEqual(store.state().steps, [step('a', 'x')]);
    write('new');
    store.redo();
    assert.deepEqual(store.state().steps, [step('a', 'new')]);
  });

  it('is not changed, nor saved, by an edit that changes nothing', () => {
    const { store, timers } = setUpDraft();
    store.change('nothing', (steps) => steps);
    assert.equal(store.state().saveState, 'saved');
    assert.equal(timers.pending, undefined);
  });

  it('is saved when the page is left', async () => {
    const { store, service, write } = setUpDraft();
    write('last words');
    store.close();
    await store.flush();
    assert.deepEqual(service.steps(), [step('a', 'last words')]);
  });

  it('is not sent after unsaved changes were discarded, even when saving had failed', async () => {
    const { store, service, write, pass } = setUpDraft();
    service.answer = () => ({ type: 'failed', message: 'The service cannot be reached.' });
    write('given up');
    await pass();
    service.answer = undefined;
    const { length } = service.saves;
    store.discard();
    store.close();
    await pass();
    assert.deepEqual([service.saves.length, service.steps()], [length, [step('a')]]);
  });

  it('is saved before it runs, and says why it did not run when it cannot be saved', async () => {
    const { store, service, write } = setUpDraft();
    write('mine');
    await store.saveToRun();
    assert.deepEqual(service.steps(), [step('a', 'mine')]);
    service.answer = () => ({ type: 'refused', message: 'Too many steps.', problems: [] });
    write('refused');
    await assert.rejects(store.saveToRun(), { message: /was not run\. Too many steps\.$/ });
    service.answer = undefined;
    service.changeElsewhere([step('b')]);
    write('mine again');
    await assert.rejects(store.saveToRun(), { message: /changed elsewhere, so it was not run/ });
  });

  it("is undone by a change's label only while that change is the latest", () => {
    const { store, write } = setUpDraft();
    write('x', 'Delete b');
    write('y', 'Edit a');
    assert.equal(store.undoLatest('Delete b'), false);
    assert.deepEqual(store.state().steps, [step('a', 'y')]);
    store.undo();
    assert.equal(store.undoLatest('Delete b'), true);
    assert.deepEqual(store.state().steps, [step('a')]);
    assert.equal(store.undoLatest('Delete b'), false);
  });
});
