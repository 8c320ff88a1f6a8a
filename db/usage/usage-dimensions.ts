/** How usage can be grouped. */
export const USAGE_DIMENSIONS = ['day', 'project', 'flow', 'version', 'model', 'key'] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];
