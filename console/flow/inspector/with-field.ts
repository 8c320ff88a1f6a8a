/** Sets a field of an object, or removes it when the value is undefined. The other fields keep their order. */
export function withField<T extends object>(object: T, field: string, value: unknown): T {
  if (value !== undefined) return { ...object, [field]: value };
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== field)) as T;
}

/** Whether a path is a field or lies inside it. */
export function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}
