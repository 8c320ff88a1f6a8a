// The parts of a page: sections, rows, tables and facts.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { classes } from './classes.ts';
import style from './page.module.css';
import table from './table.module.css';

type Props = {
  title: string;
  /** The open part of the page, such as a tab; the window's title begins with it. */
  part?: string | undefined;
  /** Badges beside the title. */
  beside?: ReactNode;
  /** One sentence below the title. */
  text?: ReactNode;
  /** Buttons beside the title, the primary one last. */
  actions?: ReactNode;
  /** Fills the window without a margin, for an editor or a long list. */
  isFull?: boolean;
  children: ReactNode;
};

/** A page: its title, which is also the window's, and its content. */
export function Page({ title, part, beside, text, actions, isFull = false, children }: Props) {
  useTitle(part === undefined ? title : `${part} · ${title}`);
  return (
    <div className={classes(style.page, isFull && style.full)}>
      <header className={style.head}>
        <div className={style.title}>
          <h1>{title}</h1>
          {beside}
        </div>
        {actions && <div className={style.actions}>{actions}</div>}
        {text && <div className={style.text}>{text}</div>}
      </header>
      {children}
    </div>
  );
}

/** A bordered section of a page. */
export function Panel({
  title,
  actions,
  isFlush = false,
  children,
}: {
  title?: string;
  actions?: ReactNode;
  /** Without padding, for a table. */
  isFlush?: boolean;
  children: ReactNode;
}) {
  return (
    <section className={style.panel}>
      {title && (
        <div className={style.panelHead}>
          <h2>{title}</h2>
          {actions}
        </div>
      )}
      {isFlush ? (
        <ScrollBox label={title ?? 'Table'}>{children}</ScrollBox>
      ) : (
        <div className={style.panelBody}>{children}</div>
      )}
    </section>
  );
}

/** Children below each other. */
export function Stack({ children }: { children: ReactNode }) {
  return <div className={style.stack}>{children}</div>;
}

/** Children beside each other, wrapping where there is no room. */
export function Row({ children }: { children: ReactNode }) {
  return <div className={style.row}>{children}</div>;
}

/** Scrolls horizontally; a tab stop only when its content is wider. */
function ScrollBox({ label, children }: { label: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setWide(element.scrollWidth > element.clientWidth);
    const resized = new ResizeObserver(measure);
    const changed = new MutationObserver(measure);
    resized.observe(element);
    changed.observe(element, { childList: true, subtree: true, characterData: true });
    measure();
    return () => {
      resized.disconnect();
      changed.disconnect();
    };
  }, []);
  return (
    <div
      ref={box}
      className={style.flush}
      {...(isWide && { tabIndex: 0, role: 'region', 'aria-label': label })}
    >
      {children}
    </div>
  );
}

/** Sets the title of the window. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Weir`;
  }, [title]);
}

/** A user's text on one line. Overflow is cut off and shown on hover; the text keeps its own direction. */
export function Clipped({ text }: { text: string }) {
  return (
    <bdi className={style.clipped} title={text}>
      {text}
    </bdi>
  );
}

/** A table to read: `head` has the column names, the children are `<tr>` rows. `label` is its accessible name. */
export function Table({ label, head, children }: { label: string; head: ReactNode[]; children: ReactNode }) {
  return (
    <table className={table.table} aria-label={label}>
      <thead>
        <tr>
          {head.map((name, index) =>
            name === '' ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns do not move
              <td key={index} />
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <th key={index} scope="col">
                {name}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** A list of names and values: `<Facts><Fact name="Model">…</Fact></Facts>`. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className={table.facts}>{children}</dl>;
}

/** A name and its value. Undefined while it is loading: `width` (CSS length) then keeps its space. */
export function Fact({ name, width, children }: { name: string; width?: string; children: ReactNode }) {
  return (
    <div style={{ minWidth: width }}>
      <dt>{name}</dt>
      <dd>{children ?? '…'}</dd>
    </div>
  );
}
