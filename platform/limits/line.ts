/** While both kinds wait, one of so many turns is a patient waiter's. */
const PATIENT_EVERY = 4;

/** A patient waiter lets the owner's others go first. `first`: it holds something meanwhile, and goes before both. */
export type WaitOptions = { patient?: boolean; first?: boolean };

/** Those of one owner who wait for a turn. */
export type Line<Waiter> = {
  readonly length: number;
  add(waiter: Waiter, options: WaitOptions): void;
  /** Removes the next one and returns it; undefined when nobody waits. */
  takeNext(): Waiter | undefined;
  remove(waiter: Waiter): void;
};

/**
 * Creates a line in which patient waiters let the others go first. Every fourth turn is theirs, so that they go on however many
 * others come. Within each kind, the one that has waited longest is next.
 */
export function createLine<Waiter>(): Line<Waiter> {
  const prompt: Waiter[] = [];
  const patient: Waiter[] = [];
  const holding: Waiter[] = [];
  let inARow = 0;
  return {
    get length() {
      return prompt.length + patient.length + holding.length;
    },
    add(waiter, { patient: isPatient = false, first = false }) {
      (first ? holding : isPatient ? patient : prompt).push(waiter);
    },
    takeNext() {
      if (holding.length > 0) return holding.shift();
      const isPatientNext = prompt.length === 0 || (patient.length > 0 && inARow >= PATIENT_EVERY - 1);
      inARow = isPatientNext || patient.length === 0 ? 0 : inARow + 1;
      return (isPatientNext ? patient : prompt).shift();
    },
    remove(waiter) {
      for (const waiters of [prompt, patient, holding]) {
        const place = waiters.indexOf(waiter);
        if (place >= 0) waiters.splice(place, 1);
      }
    },
  };
}
