/** The draft, or a version's number. */
export type Side = 'draft' | number;

export function nameOf(side: Side): string {
  return side === 'draft' ? 'Draft' : `Version ${side}`;
}
