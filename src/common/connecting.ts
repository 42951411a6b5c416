// Why a server cannot be reached, in words for people.

const NOT_REACHED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ETIMEDOUT: 'nobody answers there',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name cannot be looked up now',
  EHOSTUNREACH: 'there is no way there',
  ENETUNREACH: 'there is no way there',
};

/** What an error of connect() means. */
export const whyNotReached = ({ code = '', message }: NodeJS.ErrnoException) => NOT_REACHED[code] ?? message;
