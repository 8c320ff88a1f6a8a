// The gate of URLs that a user chose (spec: Limits, "URL scheme" and "Attachment URL length").

/** UTF-16 code units, as it was sent. */
export const URL_MAX_LENGTH = 2_048;

/** Why a URL is refused: not https, too long, or not to be read in one way only. */
export type UrlProblem = 'scheme' | 'too_long' | 'malformed';

/** A URL to be used as it was parsed, never as it was written; or what is wrong with it, in words that follow "it". */
export type CheckedUrl =
  | { url: URL; problem?: never; message?: never }
  | { url?: never; problem: UrlProblem; message: string };

/** Parses `text` once; only an https URL without user info, odd characters and port 0 passes. Its host is not looked up. */
export function parseHttpsUrl(text: string): CheckedUrl {
  // First, so that a data URI is told what it is rather than that it is long.
  if (!/^https:/i.test(text)) return { problem: 'scheme', message: 'has to begin with https://' };
  if (text.length > URL_MAX_LENGTH)
    return { problem: 'too_long', message: `has more than ${URL_MAX_LENGTH} characters` };
  if (/[\s\\\p{Cc}]/u.test(text))
    return malformed('must not contain spaces, backslashes or control characters');
  const url = /^https:\/\/[^/]/i.test(text) ? URL.parse(text) : null;
  if (!url) return malformed('is not a valid URL');
  if (/^https:\/\/[^/?#]*@/i.test(text)) return malformed('must not contain a user name or password');
  if (url.port === '0') return malformed('must not name port 0');
  return { url };
}

function malformed(message: string): CheckedUrl {
  return { problem: 'malformed', message };
}
