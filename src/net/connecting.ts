// Why a server cannot be reached, in words for people.

const NOT_REACHED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ETIMEDOUT: 'no answer',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name cannot be looked up now',
  EHOSTUNREACH: 'no route',
  ENETUNREACH: 'no route',
};

/** The meaning of an error of connect(). */
export const whyNotReached = ({ code = '', message }: NodeJS.ErrnoException) => NOT_REACHED[code] ?? message;
