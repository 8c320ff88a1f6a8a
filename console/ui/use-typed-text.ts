import { useCallback, useEffect, useRef, useState } from 'react';

const SEND_AFTER_MS = 250;

/**
 * A text as it is typed into a field, for a value that stands elsewhere, such as in the address. Once the text has stayed
 * the same for a moment, or the field is left (`sendNow`), what `read` makes of it is sent there, unless that is undefined.
 */
export function useTypedText(
  value: string,
  read: (text: string) => string | undefined,
  send: (value: string) => void,
) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  // A value that comes from elsewhere, such as Back, replaces the text; one that was typed here comes late.
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
  }, [value]);
  const sendNow = useCallback(() => {
    const next = read(text);
    if (next === undefined || next === sent.current) return;
    sent.current = next;
    send(next);
  }, [text, read, send]);
  useEffect(() => {
    const timer = setTimeout(sendNow, SEND_AFTER_MS);
    return () => clearTimeout(timer);
  }, [sendNow]);
  return { text, setText, sendNow };
}
