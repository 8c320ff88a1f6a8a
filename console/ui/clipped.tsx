import style from './page.module.css';

/** A user's text on one line. Overflow is cut off and shown on hover; the text keeps its own direction. */
export function Clipped({ text }: { text: string }) {
  return (
    <bdi className={style.clipped} title={text}>
      {text}
    </bdi>
  );
}
