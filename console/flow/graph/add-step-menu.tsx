import { type RefObject, useContext } from 'react';
import { Menu, MenuItem, Popover, Text } from 'react-aria-components';
import overlay from '../../ui/overlay.module.css';
import type { StepKind } from '../draft/new-step.ts';
import type { Place } from '../draft/steps.ts';
import style from './graph.module.css';
import { GraphEditingContext } from './graph-editing.ts';
import { StepIcon } from './step-icon.tsx';

const KINDS: { kind: StepKind; name: string; text: string }[] = [
  { kind: 'llm', name: 'Model call', text: 'Asks a model with a prompt' },
  { kind: 'code', name: 'Code', text: 'JavaScript that returns the output' },
  { kind: 'passthrough', name: 'Pass through', text: 'The input as it is' },
  { kind: 'parallel', name: 'Parallel', text: 'Branches at the same time' },
  { kind: 'loop', name: 'Loop', text: 'For each item of the input, or until a value is reached' },
];

type AddStepMenuProps = {
  place: Place | undefined;
  trigger: RefObject<HTMLElement | null>;
  onClose: () => void;
};

/** The menu of step kinds to insert; open while `place` is set. */
export function AddStepMenu({ place, trigger, onClose }: AddStepMenuProps) {
  const editing = useContext(GraphEditingContext);
  return (
    <Popover
      aria-label="Add a step"
      className={overlay.popover}
      triggerRef={trigger}
      isOpen={place !== undefined}
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <Menu
        aria-label="Add a step"
        autoFocus="first"
        onAction={(kind) => {
          onClose();
          if (place) editing?.insert(kind as StepKind, place);
        }}
      >
        {KINDS.map(({ kind, name, text }) => (
          <MenuItem key={kind} id={kind} textValue={name} className={overlay.item}>
            <StepIcon kind={kind} />
            <span className={style.text}>
              <Text slot="label">{name}</Text>
              <Text slot="description" className={style.detail}>
                {text}
              </Text>
            </span>
          </MenuItem>
        ))}
      </Menu>
    </Popover>
  );
}
