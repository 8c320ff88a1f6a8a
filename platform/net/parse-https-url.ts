// Accepts or refuses a URL that a user chose.

/** In characters (Unicode code points) as the URL was sent. */
export const URL_MAX_LENGTH = 2_048;
const SHORT_ENOUGH = new RegExp(`^.{0,${URL_MAX_LENGTH}}$`, 'su');

/** Why a URL is refused: not https, too long, or malformed or ambiguous. */
type UrlProblem = 'scheme' | 'too_long' | 'malformed';

/** The parsed URL, or its problem as a phrase that follows the name of the field. */
type CheckedUrl =
  | { url: URL; problem?: never; message?: never }
  | { url?: never; problem: UrlProblem; message: string };

/** Parses a URL: only an https URL without user info, odd characters and port 0 passes. Its host is not looked up. */
export function parseHttpsUrl(text: string): CheckedUrl {
  // First, so that a data URI is refused for its scheme rather than its length.
  if (!/^https:/i.test(text)) return { problem: 'scheme', message: 'has to begin with https://' };
  if (!SHORT_ENOUGH.test(text))
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
