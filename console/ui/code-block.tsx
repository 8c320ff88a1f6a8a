import { classes } from './classes.ts';
import { CopyButton } from './copy-button.tsx';
import style from './note.module.css';

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
