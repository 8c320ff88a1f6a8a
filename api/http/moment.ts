import { z } from 'zod';

const completedText = z.string().overwrite(completeTime);
/** A point in time from a caller: a date, or a time whose seconds and offset are optional. */
export const momentText = z.union(
  [completedText.check(z.iso.datetime({ offset: true })), completedText.check(z.iso.date())],
  { error: 'must be an ISO 8601 date or time, such as 2026-01-31T12:00:00Z' },
);

export const moment = momentText.transform((text) => new Date(text));

/**
 * Completes a time. UTC unless it has an offset. Accepts an unescaped `+` (a space in a query) and an offset without
 * a colon.
 */
function completeTime(text: string): string {
  return text
    .replace(/ (?=\d\d(:?\d\d)?$)/, '+')
    .replace(/(T[\d:.]+[+-]\d\d)(\d\d)?$/, (_, time, minutes = '00') => `${time}:${minutes}`)
    .replace(/(T\d\d:\d\d)(?=$|[Z+-])/, '$1:00')
    .replace(/(T[\d:.]+)$/, '$1Z');
}
