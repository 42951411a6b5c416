// The number of a job, as people ask for it: the parts of an array (4711_3; of Grid Engine 4711.3) or of a heterogeneous
// job (4711+1) share one.

/** The jobs with that number, or else the parts of the array or of the heterogeneous job that has it. */
export function withNumber<Job extends { readonly id: string }>(jobs: readonly Job[], number: string): readonly Job[] {
  const exact = jobs.filter(({ id }) => id === number);
  const isPart = ({ id }: Job) => id.startsWith(number) && /^[_+.]/.test(id.slice(number.length));
  return exact.length > 0 ? exact : jobs.filter(isPart);
}

/** Whether a text is a job's number, of arrays and heterogeneous jobs with that of a part. No host list is: those have letters. */
export const isJobNumber = (text: string): boolean => /^\d+(?:[_+.]\d+)*$/.test(text);
