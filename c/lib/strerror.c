/* The words for results and numbers. Only static text. */
#include "internal.h"

const char *beoboard_strerror(int err) {
  switch (err < 0 ? -err : err) {
    case 0: return "no error";
    case ENOENT: return "no such board or node: is the receiver running, and the name right?";
    case EAGAIN: return "the board or the record is being written; look again";
    case ESTALE:
      return "the board is stalled or retired: nothing is known about any node; refresh, and see to the receiver";
    case EPERM:
      return "the board is of a user who is not trusted, or others can write it; if he is right, name him with "
             "BEOBOARD_OWNER";
    case EACCES: return "no permission to read the board";
    case ELOOP: return "the board's path is a link";
    case EBADMSG: return "not a board, or one of another version, boot or machine";
    case EUCLEAN: return "the board is cut short or leads out of its file";
    case EINVAL: return "an argument that means nothing";
    case ENODATA: return "no report, or no two of one boot, to answer from";
    case ENOSPC: return "the buffer is too small for the name";
    case ENOMEM: return "out of memory";
    case EMFILE:
    case ENFILE: return "too many open files";
    case ENAMETOOLONG: return "the board's path is too long";
    default: return "the system refused; see errno(3) for the number";
  }
}

uint32_t beoboard_version(void) {
  return BEOBOARD_VERSION_MAJOR << 16 | BEOBOARD_VERSION_MINOR << 8 | BEOBOARD_VERSION_PATCH;
}

const char *beoboard_state_name(int state) {
  return state >= 0 && state < BB_NODE_STATE_COUNT ? bb_node_state_names[state] : NULL;
}

const char *beoboard_reason_name(int reason) {
  return reason >= 0 && reason < BB_REASON_COUNT ? bb_reason_names[reason] : NULL;
}

const char *beoboard_problem_name(int problem) {
  return problem >= 0 && problem < BEOBOARD_NPROBLEMS ? bb_problem_names[problem] : NULL;
}

const char *beoboard_problem_text(int problem) {
  return problem >= 0 && problem < BEOBOARD_NPROBLEMS ? bb_problem_meanings[problem] : NULL;
}

const char *beoboard_last_words_name(int row) {
  return row >= 0 && row < BEOBOARD_NLAST_WORDS ? bb_last_words_names[row] : NULL;
}

const char *beoboard_last_words_text(int row) {
  return row >= 0 && row < BEOBOARD_NLAST_WORDS ? bb_last_words_meanings[row] : NULL;
}

const char *beoboard_ailment_name(int ailment) {
  return beoboard_problem_name(ailment);
}

const char *beoboard_ailment_text(int ailment) {
  return beoboard_problem_text(ailment);
}

const char *beoboard_event_name(int kind) {
  return kind >= 0 && kind < BB_EVENT_KIND_COUNT ? bb_event_kind_names[kind] : NULL;
}
