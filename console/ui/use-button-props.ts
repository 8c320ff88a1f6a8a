import { useState } from 'react';
import type { ButtonProps as AriaButtonProps } from 'react-aria-components';

/**
 * Returns the props of a button. A button that is pending, or becomes disabled while it is focused, does nothing but
 * stays enabled in the DOM, so that it keeps the focus. React Aria's own `isPending` announces the button by an id that
 * is gone once its dialog has closed.
 */
export function useButtonProps({
  isPending,
  isDisabled = false,
  ...props
}: AriaButtonProps): AriaButtonProps {
  const [hasFocus, setFocus] = useState(false);
  const keepsFocus = isDisabled && hasFocus;
  const all: AriaButtonProps = {
    ...props,
    onFocus(event) {
      setFocus(true);
      props.onFocus?.(event);
    },
    onBlur(event) {
      // The focus returns with the user from another window.
      setFocus(event.target === document.activeElement);
      props.onBlur?.(event);
    },
  };
  if (!isPending && !keepsFocus) return { ...all, isDisabled };
  // The slot of a button closes its dialog.
  return {
    ...all,
    type: 'button',
    onPress: nothing,
    'aria-disabled': true,
    ...(keepsFocus && { slot: null }),
  };
}

function nothing() {}
