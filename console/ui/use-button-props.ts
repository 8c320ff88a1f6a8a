import { useState } from 'react';
import type { ButtonProps as AriaButtonProps } from 'react-aria-components';

/**
 * Gives the props of a button. One that is pending, or is disabled while it has the focus, is not disabled in the page, which
 * would take the focus away from it: it does nothing. React Aria's own `isPending` is not used: it announces the button by
 * its id, which leads nowhere once the dialog around it has closed.
 */
export function useButtonProps({
  isPending,
  isDisabled = false,
  ...props
}: AriaButtonProps): AriaButtonProps {
  const [hasFocus, setFocus] = useState(false);
  const isHeld = isDisabled && hasFocus;
  const all: AriaButtonProps = {
    ...props,
    onFocus(event) {
      setFocus(true);
      props.onFocus?.(event);
    },
    onBlur(event) {
      // The focus of a reader who goes to another window is here again afterwards.
      setFocus(event.target === document.activeElement);
      props.onBlur?.(event);
    },
  };
  if (!isPending && !isHeld) return { ...all, isDisabled };
  // A button that closes its dialog does so by its slot.
  return { ...all, type: 'button', onPress: nothing, 'aria-disabled': true, ...(isHeld && { slot: null }) };
}

function nothing() {}
