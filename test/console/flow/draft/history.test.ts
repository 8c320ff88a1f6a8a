import assert from 'node:assert/strict';
import {
  ELSEWHERE,
  hasElsewhere,
  NO_HISTORY,
  redoIn,
  remember,
  undoIn,
} from '../../../../console/flow/draft/history.ts';
import { step } from './set-up-draft.ts';

describe('the history of a draft', () => {
  it('has a change made elsewhere until it is undone, and again once it is redone', () => {
    const [mine, theirs, later] = [[step('a')], [step('b')], [step('c')]];
    const taken = remember(NO_HISTORY, ELSEWHERE, mine, 0);
    const changed = remember(taken, 'Change', theirs, 0);
    assert.equal(hasElsewhere(changed), true);
    const once = undoIn(changed, later);
    assert.ok(once && hasElsewhere(once.history));
    const twice = undoIn(once.history, once.steps);
    assert.ok(twice && !hasElsewhere(twice.history));
    assert.equal(hasElsewhere(redoIn(twice.history, twice.steps)?.history ?? NO_HISTORY), true);
  });
});
