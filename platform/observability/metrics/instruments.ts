// The kinds of instruments, over the OpenTelemetry metrics API. An instrument is made once, when its file is loaded, and does
// nothing until `bindInstruments` gives it a meter, so that metrics which are off cost nothing.
import type { Meter } from '@opentelemetry/api';

/** The labels of a measurement. Their values come from short lists: never ids or text of users. */
type Labels<Label extends string> = { [label in Label]?: string | number };

type Definition<Label extends string> = {
  /** A name from the conventions of OpenTelemetry, or a name of ours, with the prefix `weir.`. */
  name: string;
  /** In UCUM notation: `s`, `By`, or the counted thing in braces. */
  unit: string;
  description: string;
  labels?: readonly Label[];
};

type Bindable = { bind(meter: Meter | undefined): void };
const all = new Set<Bindable>();
let meter: Meter | undefined;

/** Binds all instruments, including later ones, to a meter. `undefined` stops all measurements. */
export function bindInstruments(given: Meter | undefined): void {
  meter = given;
  for (const instrument of all) instrument.bind(given);
}

function add(instrument: Bindable): void {
  all.add(instrument);
  instrument.bind(meter);
}

type Counter<Label extends string> = { add(value: number, labels?: Labels<Label>): void };

/**
 * Makes a counter. `zeros`: labels with which it is exported as 0 before anything is counted, since rates do not see the first
 * step of a series that begins at 1.
 */
export function counter<Label extends string = never>({
  name,
  zeros = [],
  ...options
}: Definition<Label> & { zeros?: Labels<Label>[] }): Counter<Label> {
  let bound: Counter<Label> | undefined;
  add({
    bind(meter) {
      bound = meter?.createCounter(name, options);
      for (const labels of zeros) bound?.add(0, labels);
    },
  });
  return { add: (value, labels) => bound?.add(value, labels) };
}

type Histogram<Label extends string> = { record(value: number, labels?: Labels<Label>): void };

/** Makes a histogram with the upper bounds of its buckets. */
export function histogram<Label extends string = never>({
  name,
  buckets,
  ...options
}: Definition<Label> & { buckets: number[] }): Histogram<Label> {
  let bound: Histogram<Label> | undefined;
  add({
    bind(meter) {
      bound = meter?.createHistogram(name, {
        ...options,
        advice: { explicitBucketBoundaries: buckets },
      });
    },
  });
  return { record: (value, labels) => bound?.record(value, labels) };
}

/** A value of a gauge, and its labels. */
export type Reading<Label extends string> = { value: number; labels?: Labels<Label> };

export type Gauge<Label extends string> = {
  /** Asks `read` at each export; values with the same labels are added up. Returns a function that ends this. */
  observe(read: () => Reading<Label>[]): () => void;
};

/** Makes a gauge, which is read when metrics are exported; a counter where its value only `grows`. */
export function gauge<Label extends string = never>({
  name,
  grows = false,
  ...options
}: Definition<Label> & { grows?: boolean }): Gauge<Label> {
  const readers = new Set<() => Reading<Label>[]>();
  add({
    bind(meter) {
      const observable = grows
        ? meter?.createObservableCounter(name, options)
        : meter?.createObservableGauge(name, options);
      observable?.addCallback((result) => {
        const sums = new Map<string, Reading<Label>>();
        for (const read of readers)
          for (const { value, labels = {} } of read()) {
            const key = JSON.stringify(labels);
            sums.set(key, { value: value + (sums.get(key)?.value ?? 0), labels });
          }
        for (const { value, labels } of sums.values()) result.observe(value, labels);
      });
    },
  });
  return {
    observe(read) {
      readers.add(read);
      return () => readers.delete(read);
    },
  };
}

/**
 * Makes a gauge of values that one worker at a time finds. What is set is exported for `lastMs`, so that a process which no
 * longer looks does not repeat old values.
 */
export function lasting<Label extends string>(
  gauge: Gauge<Label>,
  lastMs: number,
): { set(readings: Reading<Label>[]): void } {
  let current: Reading<Label>[] = [];
  let until = 0;
  gauge.observe(() => (performance.now() < until ? current : []));
  return {
    set(readings) {
      current = readings;
      until = performance.now() + lastMs;
    },
  };
}
