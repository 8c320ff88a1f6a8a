import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import { addBranch, canShiftBranch, removeBranch, renameBranch, shiftBranch } from '../draft/new-step.ts';
import type { ParallelStep } from '../draft/steps.ts';
import { useDraft } from '../flow-context.ts';
import style from './inspector.module.css';
import { useStep } from './use-step.ts';

const BRANCHES_MAX = 32;
const NAME_MAX_LENGTH = 64;

/** Edits the branches of a parallel step. */
export function ParallelFields({ step }: { step: ParallelStep }) {
  const { change } = useDraft();
  const { problemOf } = useStep(step);
  const names = Object.keys(step.branches);
  const { step_id, name } = step;
  return (
    <section className={style.section} aria-label="Branches">
      <div className={style.sectionHead}>
        <h3>Branches</h3>
        <Button
          size="small"
          isDisabled={names.length >= BRANCHES_MAX}
          onPress={() => change(`Add a branch to ${name}`, (steps) => addBranch(steps, step_id))}
        >
          <Plus size={14} aria-hidden /> Add branch
        </Button>
      </div>
      <p className={style.help}>
        They run at the same time, on the same input. The output has each one’s last output under its name.
      </p>
      {names.map((branch, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a branch that is renamed is the same row
        <div key={index} className={style.branch}>
          <BranchName step={step} branch={branch} />
          <IconButton
            label={`Move ${branch} up`}
            isDisabled={!canShiftBranch(step, branch, -1)}
            onPress={() =>
              change(`Move branch ${branch}`, (steps) => shiftBranch(steps, step_id, branch, -1))
            }
          >
            <ArrowUp size={14} />
          </IconButton>
          <IconButton
            label={`Move ${branch} down`}
            isDisabled={!canShiftBranch(step, branch, 1)}
            onPress={() => change(`Move branch ${branch}`, (steps) => shiftBranch(steps, step_id, branch, 1))}
          >
            <ArrowDown size={14} />
          </IconButton>
          <IconButton
            label={names.length > 1 ? `Remove ${branch} and its steps` : 'The last branch cannot be removed'}
            isDisabled={names.length === 1}
            onPress={() => change(`Remove branch ${branch}`, (steps) => removeBranch(steps, step_id, branch))}
          >
            <Trash2 size={14} />
          </IconButton>
        </div>
      ))}
      {problemOf('branches') && <p className={style.problem}>{problemOf('branches')}</p>}
    </section>
  );
}

/** Renames the branch, and the variables that read it, when the field loses the focus. */
function BranchName({ step, branch }: { step: ParallelStep; branch: string }) {
  const { change } = useDraft();
  const [written, setWritten] = useState<string>();
  const text = written ?? branch;
  const isTaken = text !== branch && Object.hasOwn(step.branches, text);
  const problem = isTaken
    ? 'Another branch has this name.'
    : text === ''
      ? 'Give the branch a name.'
      : undefined;
  function rename() {
    if (text !== branch && problem === undefined)
      change(`Rename branch ${branch}`, (steps) => renameBranch(steps, step.step_id, branch, text));
    setWritten(undefined);
  }
  return (
    <TextField
      label={`Name of branch ${branch}`}
      hideLabel
      value={text}
      maxLength={NAME_MAX_LENGTH}
      error={problem}
      onChange={setWritten}
      onBlur={rename}
      onKeyDown={(event) => event.key === 'Enter' && rename()}
    />
  );
}
