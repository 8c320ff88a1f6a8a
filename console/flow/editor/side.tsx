import { X } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { IconButton } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { ReturnFocus } from '../../ui/use-return-focus.ts';
import style from './editor.module.css';

type Props = {
  label: string;
  isOpen: boolean;
  /**
   * Set when the panel can be closed. It then shows its label, takes the focus on opening and returns the focus on
   * closing.
   */
  onClose: (() => void) | undefined;
  children: ReactNode;
};

/** A panel beside the graph, or over it on a narrow window. It keeps its state while closed. */
export function Side({ label, isOpen, onClose, children }: Props) {
  const [wasOpen, setWasOpen] = useState(isOpen);
  const part = useRef<HTMLElement>(null);
  const canClose = onClose !== undefined;
  useEffect(() => {
    if (!isOpen) return;
    setWasOpen(true);
    if (canClose) part.current?.focus();
  }, [isOpen, canClose]);
  return (
    <aside
      ref={part}
      tabIndex={-1}
      aria-label={label}
      className={style.side}
      hidden={!isOpen}
      onKeyDown={(event) => event.key === 'Escape' && !event.defaultPrevented && onClose?.()}
    >
      {onClose && (
        <div className={style.sideHead}>
          <h2>{label}</h2>
          <IconButton label="Close" size="small" onPress={onClose}>
            <X size={16} />
          </IconButton>
        </div>
      )}
      {isOpen && canClose && <ReturnFocus />}
      <div className={classes(style.padded)}>{(isOpen || wasOpen) && children}</div>
    </aside>
  );
}
