/** Parts of the native client's errors, which are debug output of Rust, and what each says. */
const REASONS: [RegExp, string][] = [
  [
    /InvalidContentType/,
    'it does not speak TLS: unset TEMPORAL_TLS, TEMPORAL_API_KEY and the other TEMPORAL_TLS_ variables, or correct the address',
  ],
  [/ConnectionRefused/, 'the connection was refused'],
  [/dns error/, 'its host cannot be resolved'],
  [/ConnectionReset|BrokenPipe/, 'the connection was broken off: does it ask for TLS (TEMPORAL_TLS)?'],
];

/** Describes in words why Temporal could not be connected to, as the end of a sentence without a full stop. */
export function describeConnectError(error: unknown): string {
  const text = String(error);
  return REASONS.find(([of]) => of.test(text))?.[1] ?? text;
}
