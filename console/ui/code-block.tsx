import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { classes } from './classes.ts';
import style from './note.module.css';
import { showToast } from './toast.tsx';

const SHOWN_MS = 1_500;

/** Code, JSON or text to read and copy. `label` is its accessible name. */
export function CodeBlock({
  text,
  label,
  isWrapped = false,
}: {
  text: string;
  label: string;
  isWrapped?: boolean;
}) {
  return (
    <div className={style.code}>
      <section aria-label={label}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
        <pre tabIndex={0} className={classes(isWrapped && style.wrap)}>
          {text}
        </pre>
      </section>
      <span className={style.codeCopy}>
        <CopyButton text={text} label={`Copy ${label}`} />
      </span>
    </div>
  );
}

/** Copies a text, or the result of a function, to the clipboard. */
export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [copied, setCopied] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      setCopied(true);
      setTimeout(() => setCopied(false), SHOWN_MS);
    } catch {
      showToast({
        tone: 'bad',
        title: 'The browser did not allow copying: select the text and copy it yourself.',
      });
    }
  }
  return (
    <Button aria-label={copied ? 'Copied' : label} className={style.copy} onPress={copy}>
      {copied ? <Check size={13} /> : <Copy size={13} />}
    </Button>
  );
}
