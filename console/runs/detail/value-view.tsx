import { formatBytes } from '../../ui/format.ts';
import { JsonView } from '../../ui/json-view.tsx';
import style from './detail.module.css';
import { LargeValue } from './large-value.tsx';

type Props = {
  label: string;
  value: unknown;
  /** The size of the value as JSON; 0 when there is none. */
  bytes: number;
  /** Where the API answers the value alone. */
  url: string;
  /** Says why there is none. */
  none: string;
};

/** One value of a block execution; a large one is shown by its beginning. */
export function ValueView({ label, value, bytes, url, none }: Props) {
  // The API leaves values out that are larger than it puts into the answer; `null` itself has four bytes.
  const isLeftOut = value === null && bytes > 4;
  return (
    <section className={style.value}>
      <h3>
        {label} {bytes > 0 && <span className={style.faint}>{formatBytes(bytes)}</span>}
      </h3>
      {bytes === 0 ? (
        <p className={style.faint}>{none}</p>
      ) : isLeftOut ? (
        <LargeValue key={url} label={label} bytes={bytes} url={url} />
      ) : (
        <JsonView value={value} label={label} />
      )}
    </section>
  );
}
