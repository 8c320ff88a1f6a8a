// The parts of a page: sections, rows, tables and facts.
import type { ReactNode } from 'react';
import { classes } from './classes.ts';
import style from './page.module.css';
import { ScrollBox } from './scroll-box.tsx';
import { useTitle } from './use-title.ts';

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
        {text && <p className={style.text}>{text}</p>}
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
