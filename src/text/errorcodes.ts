// Why something was refused or failed, as codes: programs and our own code decide by them, people read the sentence, and
// only that may change. Pure: also for the page.

/** All codes, each with the status of HTTP that it is answered with. */
export const ERROR_CODES = {
  /** What was asked for, or written, is not valid: a parameter, a condition, a host list, a file. */
  invalid_input: 400,
  invalid_request: 400,
  other_site: 403,
  not_found: 404,
  unknown_node: 404,
  unknown_job: 404,
  unknown_user: 404,
  jobs_hidden: 404,
  not_kept: 404,
  switched_off: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  target_too_long: 414,
  expectation_failed: 417,
  other_host: 421,
  headers_too_large: 431,
  /** The addon, or another file of the program, is not there. */
  not_installed: 500,
  lock_failed: 500,
  no_board: 503,
  too_much: 503,
  /** Another process has it. */
  lock_held: 503,
  other_version: 505,
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The code of an error of ours; undefined: it has none. */
export function codeOfError(error: unknown): ErrorCode | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : undefined;
}
