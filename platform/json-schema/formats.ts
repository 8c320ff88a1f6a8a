// The formats that are checked; all others are notes. `uri-template`, `uri-reference` and `url` can backtrack.

export const STRICT_FORMATS = [
  'date',
  'time',
  'date-time',
  'duration',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
  'json-pointer',
] as const;

export const FAST_FORMATS = ['uri', 'email'] as const;
