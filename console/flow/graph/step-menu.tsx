import { Ellipsis } from 'lucide-react';
import { useContext } from 'react';
import { classes } from '../../ui/classes.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import type { Step } from '../draft/steps.ts';
import style from './graph.module.css';
import { GraphEditingContext, type StepAction } from './graph-editing.ts';

/** The menu of actions for a step. */
export function StepMenu({ step }: { step: Step }) {
  const editing = useContext(GraphEditingContext);
  if (!editing) return null;
  const item = (action: StepAction, text: string, tone?: 'danger') => (
    <MenuItem onAction={() => editing.act(action, step.step_id)} {...(tone && { tone })}>
      {text}
    </MenuItem>
  );
  return (
    // The graph uses presses for dragging and keys for moving between steps.
    // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps events of its button from the graph
    <span
      className={classes(style.menu, 'nodrag', 'nopan')}
      onClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <Menu
        label={`Actions for ${step.name}`}
        trigger={
          <IconButton label="Actions" size="small">
            <Ellipsis size={15} />
          </IconButton>
        }
      >
        {item('duplicate', 'Duplicate')}
        {item('copy', 'Copy as JSON')}
        {item('up', 'Move up')}
        {item('down', 'Move down')}
        {step.type === 'parallel' && item('branch', 'Add a branch')}
        {item('loop', 'Put into a loop')}
        {item('parallel', 'Put into a parallel step')}
        {step.type !== 'sequential' && item('unwrap', 'Keep only the steps inside')}
        {item('remove', 'Delete', 'danger')}
      </Menu>
    </span>
  );
}
