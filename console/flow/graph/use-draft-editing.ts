import { useEffect, useMemo, useRef } from 'react';
import { showToast } from '../../ui/toast.tsx';
import {
  copyStep,
  insertStep,
  moveStep,
  placeBeside,
  removeStep,
  shiftStep,
  unwrapStep,
} from '../draft/edit-steps.ts';
import { addBranch, newStep, wrapStep } from '../draft/new-step.ts';
import { parseSteps } from '../draft/parse-steps.ts';
import { findStep, type Step, stepIdsOf } from '../draft/steps.ts';
import { useDraft } from '../flow-context.ts';
import type { GraphEditing, StepAction } from './graph-props.ts';
import { findNeighbour } from './step-neighbours.ts';

type Edit = { label: string; edit: (steps: Step[], stepId: string) => Step[] };

const EDITS: Record<Exclude<StepAction, 'remove' | 'duplicate' | 'copy'>, Edit> = {
  up: { label: 'Move', edit: (steps, id) => shiftStep(steps, id, -1) },
  down: { label: 'Move', edit: (steps, id) => shiftStep(steps, id, 1) },
  loop: { label: 'Put into a loop', edit: (steps, id) => wrapStep(steps, id, 'loop') },
  parallel: { label: 'Put into a parallel step', edit: (steps, id) => wrapStep(steps, id, 'parallel') },
  unwrap: { label: 'Take apart', edit: unwrapStep },
  branch: { label: 'Add a branch', edit: (steps, id) => addBranch(steps, id) },
};

/** Applies edits in the graph to the draft. `announce` reads them out to screen readers. */
export function useDraftEditing(announce: (text: string) => void): GraphEditing {
  const { steps: now, change, select, undoLatest } = useDraft();
  const latest = useRef(now);
  useEffect(() => {
    latest.current = now;
  });
  // The same for all drafts: a large graph is not drawn again for each key that is typed.
  return useMemo(() => {
    const nameOf = (id: string) => findStep(latest.current, id)?.step.name ?? id;

    function add(label: string, added: Step[], place: Parameters<typeof insertStep>[1]) {
      change(label, (now) => added.reduceRight((tree, step) => insertStep(tree, place, step), now));
      select(added.at(-1)?.step_id);
      announce(label);
    }

    function remove(id: string) {
      const steps = latest.current;
      const after = removeStep(steps, id);
      const next = ['down', 'up'] as const;
      const neighbour = next
        .map((direction) => findNeighbour(steps, id, direction)?.step_id)
        .find((stepId) => findStep(after, stepId));
      const label = `Delete ${id}`;
      change(label, (now) => removeStep(now, id));
      select(neighbour ?? after[0]?.step_id);
      showToast({
        tone: 'good',
        title: `${nameOf(id)} is deleted.`,
        action: {
          label: 'Undo',
          onPress: () =>
            undoLatest(label) ||
            showToast({
              tone: 'bad',
              title: 'The draft has changed since: undo the later changes first, above the graph.',
            }),
        },
      });
    }

    function act(action: StepAction, id: string) {
      const steps = latest.current;
      const step = findStep(steps, id)?.step;
      if (!step) return;
      if (action === 'remove') return remove(id);
      if (action === 'duplicate') {
        const copy = copyStep(step, stepIdsOf(steps));
        return add(`Duplicate ${id} as ${copy.step_id}`, [copy], placeBeside(steps, id, 1));
      }
      if (action === 'copy') {
        navigator.clipboard.writeText(JSON.stringify(step, null, 2)).then(
          () => announce(`${step.name} is copied`),
          () => showToast({ tone: 'bad', title: 'The browser did not allow copying.' }),
        );
        return;
      }
      const { label, edit } = EDITS[action];
      change(`${label}: ${id}`, (now) => edit(now, id));
      announce(`${label}: ${step.name}`);
    }

    return {
      act,
      insert(kind, place) {
        const step = newStep(kind, latest.current);
        add(`Add ${step.step_id}`, [step], place);
      },
      move(id, place) {
        change(`Move: ${id}`, (now) => moveStep(now, id, place));
        announce(`Moved ${nameOf(id)}`);
      },
      paste(text, id) {
        parseSteps(text).then(
          (pasted) => {
            const taken = stepIdsOf(latest.current);
            const copies = pasted.map((step) => {
              const copy = copyStep(step, taken);
              for (const stepId of stepIdsOf([copy])) taken.add(stepId);
              return copy;
            });
            add(
              `Paste ${copies.map(({ step_id }) => step_id).join(', ')}`,
              copies,
              placeBeside(latest.current, id, 1),
            );
          },
          (error: Error) => showToast({ tone: 'bad', title: error.message }),
        );
      },
    };
  }, [change, select, undoLatest, announce]);
}
