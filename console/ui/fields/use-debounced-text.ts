import { useCallback, useEffect, useRef, useState } from 'react';

const SEND_AFTER_MS = 250;

/**
 * Returns the text of a field whose value lives elsewhere, such as in the address. After a short pause, or when the
 * field is left (`flush`), `send` gets the result of `read`, unless that is undefined.
 */
export function useDebouncedText(
  value: string,
  read: (text: string) => string | undefined,
  send: (value: string) => void,
) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  // A value from elsewhere, such as after Back, replaces the text; a value that was typed here only arrives late.
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
  }, [value]);
  const flush = useCallback(() => {
    const next = read(text);
    if (next === undefined || next === sent.current) return;
    sent.current = next;
    send(next);
  }, [text, read, send]);
  useEffect(() => {
    const timer = setTimeout(flush, SEND_AFTER_MS);
    return () => clearTimeout(timer);
  }, [flush]);
  return { text, setText, flush };
}
