import type { ReactNode } from 'react';
import style from './note.module.css';

/** An empty list: says what to do about it. The children are buttons. */
export function EmptyState({
  title,
  text,
  children,
}: {
  title: string;
  text: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className={style.empty}>
      <h2>{title}</h2>
      <p>{text}</p>
      {children && <div className={style.emptyActions}>{children}</div>}
    </div>
  );
}
