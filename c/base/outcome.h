/* What a command line says. */
#ifndef BB_OUTCOME_H
#define BB_OUTCOME_H

enum outcome { OPTIONS_GOOD, OPTIONS_BAD, OPTIONS_HELP, OPTIONS_VERSION };

#endif
