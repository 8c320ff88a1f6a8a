// Describes errors of Node and OpenSSL to the person who runs the other side.

const WORDS: { [code: string]: string } = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was broken off',
  EPIPE: 'the connection was broken off',
  UND_ERR_SOCKET: 'the connection was broken off',
  ETIMEDOUT: 'the connection took too long',
  UND_ERR_CONNECT_TIMEOUT: 'the connection took too long',
  EHOSTUNREACH: 'its address cannot be reached from here',
  ENETUNREACH: 'its address cannot be reached from here',
  EADDRNOTAVAIL: 'its address cannot be reached from here',
  EACCES: 'its address cannot be reached from here',
  ENOTFOUND: 'its host cannot be resolved',
  EAI_AGAIN: 'its host cannot be resolved',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is not valid for this host',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is from an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate is from an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate is from an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is sent without its intermediate certificates',
  HPE_HEADER_OVERFLOW: 'the headers of the answer are too large',
};

const FAMILIES: [RegExp, string][] = [
  [/^(CERT_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|ERR_TLS_CERT)/, 'the certificate is not valid'],
  [/^(EPROTO|ERR_SSL_|ERR_TLS_)/, 'no secure connection (TLS) could be agreed on'],
  [/^HPE_/, 'the answer is not valid HTTP'],
];

/** Describes why a connection failed, as the end of a sentence; `otherwise` is for errors that have no description. */
export function describeNetworkError(error: unknown, otherwise = 'the connection failed'): string {
  if (error instanceof AggregateError)
    return [...new Set(error.errors.map((one) => describeNetworkError(one, otherwise)))].join(', ');
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const words = typeof code === 'string' && (WORDS[code] ?? FAMILIES.find(([of]) => of.test(code))?.[1]);
    if (words) return words;
  }
  return otherwise;
}
