import style from './page.module.css';

/** A text that others wrote, on one line: what does not fit is cut off and shows on hover; its direction stays its own. */
export function Clipped({ text }: { text: string }) {
  return (
    <bdi className={style.clipped} title={text}>
      {text}
    </bdi>
  );
}
