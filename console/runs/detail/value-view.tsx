import { formatBytes } from '../../ui/format.ts';
import { JsonView } from '../../ui/json-view.tsx';
import style from './detail.module.css';
import { LargeValue } from './large-value.tsx';

type Props = {
  label: string;
  value: unknown;
  /** The size of the value as JSON, in bytes; 0 when there is no value. */
  bytes: number;
  /** The address of the value alone in the API. */
  url: string;
  /** The text for a missing value. */
  none: string;
};

/** Shows one value of a block execution; a large one by its beginning. */
export function ValueView({ label, value, bytes, url, none }: Props) {
  // The API omits large values; `null` itself has four bytes.
  const isOmitted = value === null && bytes > 4;
  return (
    <section className={style.value}>
      <h3>
        {label} {bytes > 0 && <span className={style.faint}>{formatBytes(bytes)}</span>}
      </h3>
      {bytes === 0 ? (
        <p className={style.faint}>{none}</p>
      ) : isOmitted ? (
        <LargeValue key={url} label={label} bytes={bytes} url={url} />
      ) : (
        <JsonView value={value} label={label} />
      )}
    </section>
  );
}
