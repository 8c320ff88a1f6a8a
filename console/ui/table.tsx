import type { ReactNode } from 'react';
import table from './table.module.css';

/** A table to read: `head` has the column names, the children are `<tr>` rows. `label` is its accessible name. */
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
