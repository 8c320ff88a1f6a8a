import type { ReactNode } from 'react';
import table from './table.module.css';

/** A table for reading: `head` has the names of its columns, the children are `<tr>` rows. `label` names it. */
export function Table({ label, head, children }: { label: string; head: ReactNode[]; children: ReactNode }) {
  return (
    <table className={table.table} aria-label={label}>
      <thead>
        <tr>
          {head.map((name, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns do not move
            <th key={index} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** Names and values below each other: `<Facts><Fact name="Model">…</Fact></Facts>`. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className={table.facts}>{children}</dl>;
}

/** One name and its value, which is undefined until it is known: `width` (CSS length) keeps its place, so that nothing moves. */
export function Fact({ name, width, children }: { name: string; width?: string; children: ReactNode }) {
  return (
    <div style={{ minWidth: width }}>
      <dt>{name}</dt>
      <dd>{children ?? '…'}</dd>
    </div>
  );
}
