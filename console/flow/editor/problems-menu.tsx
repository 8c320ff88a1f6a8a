import { TriangleAlert } from 'lucide-react';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { useDraft } from '../draft/draft-context.ts';
import { findStep } from '../draft/steps.ts';
import style from './editor.module.css';

/** Lists the problems that prevent publishing; choosing one opens its step. */
export function ProblemsMenu({ onOpen }: { onOpen: (stepId: string) => void }) {
  const { steps, problems } = useDraft();
  if (problems.length === 0) return null;
  return (
    <Menu
      label="To fix before publishing"
      trigger={
        <Button variant="quiet">
          <TriangleAlert size={14} className={style.warning} aria-hidden />
          {problems.length} to fix
        </Button>
      }
    >
      {problems.map(({ stepId, message }, index) => (
        <MenuItem
          // biome-ignore lint/suspicious/noArrayIndexKey: a step may have the same problem twice
          key={index}
          textValue={message}
          onAction={() => stepId !== undefined && onOpen(stepId)}
        >
          <span className={style.problem}>
            <strong>{findStep(steps, stepId)?.step.name ?? 'The flow'}</strong>
            <span>{message}</span>
          </span>
        </MenuItem>
      ))}
    </Menu>
  );
}
