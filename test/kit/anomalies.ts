// All anomalies of a survey, in sentences. No test of its own.

import { findingsOf, sentencesIn } from '../../src/trouble/findings.js';

export const anomalies = (...of: Parameters<typeof findingsOf>) => sentencesIn(findingsOf(...of));
