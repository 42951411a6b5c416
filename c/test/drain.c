/* A receiver's thread beside another that asks for its status and has it do jobs, while reports, junk and floods come
 * over loopback. For the sanitizers.
 *   drain BOARD ROUNDS SEED
 * Prints how many datagrams were sent, taken, accepted, and dropped by the kernel: for want of room or as junk. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../receive/receive.h"
#include "reports.h"

/* Runs in the receive thread: nodes are forgotten, so that a new board takes the old one's place. */
static void forget(struct bb_writer *writer, void *context) {
  static const char *const gone[] = {"n1", "n3"};
  bool found[2];
  char why[256];
  *(bool *)context = bb_writer_forget(writer, gone, 2, found, why, sizeof why);
}

static int fail(const char *what) {
  fprintf(stderr, "drain: %s\n", what);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const uint32_t rounds = (uint32_t)strtoul(argv[2], NULL, 10);
  uint64_t seed = strtoull(argv[3], NULL, 10) * 2 + 1, sent = 0;
  char why[256] = "";
  struct bb_receiver *receiver = bb_receiver_new(1000000, 200); /* filters soon */
  const int port = receiver == NULL ? -1 : bb_receiver_listen(receiver, "127.0.0.1", 0, why, sizeof why);
  struct bb_writer *writer = port < 0 ? NULL : open_writer(argv[1], NODES);
  if (writer == NULL || bb_receiver_start(receiver, writer, NULL, NULL) != 0) return fail(why);
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_in to = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof to) != 0) return fail("no socket");
  struct bb_receiver_status status;
  for (uint32_t round = 1; round <= rounds; round++) {
    for (unsigned node = 0; node < CORE; node++) {
      struct bb_report report;
      make_report(&report, node, round, 1);
      uint8_t *bytes = (uint8_t *)&report;
      size_t length = sizeof report;
      switch (next_random(&seed) % 8) {
        case 0: bytes[next_random(&seed) % sizeof report] ^= (uint8_t)(1 + next_random(&seed) % 255); break;
        case 1: length = next_random(&seed) % sizeof report; break;
        default: break;
      }
      if (send(fd, bytes, length, 0) == (ssize_t)length) sent++;
    }
    bb_receiver_status(receiver, &status);
    bool forgotten = false;
    if (round % 64 == 0) {
      bb_receiver_run(receiver, forget, &forgotten);
      if (!forgotten) return fail("nodes could not be forgotten");
    }
  }
  close(fd);
  /* The last drain takes what is still in the socket, and closes the board. */
  bb_receiver_stop(receiver);
  struct bb_board board;
  if (bb_board_open(&board, argv[1], (uid_t)-1, why, sizeof why) != BB_READY) return fail("no board is left");
  const struct bb_board_header *h = (const struct bb_board_header *)board.map;
  uint64_t refused = 0;
  for (size_t i = 0; i < 32; i++) refused += h->refused[i];
  const uint64_t dropped = h->kernel_drops + h->unfit_drops;
  const bool adds_up = h->received + dropped == sent && h->accepted + h->duplicate + refused == h->received;
  printf("%" PRIu64 " sent, %" PRIu64 " received, %" PRIu64 " accepted, %" PRIu64 " dropped\n", sent, h->received,
         h->accepted, dropped);
  if ((h->state & BB_BOARD_STATE_CLOSED) == 0) return fail("the board is not closed");
  bb_board_close(&board);
  return adds_up ? 0 : fail("the counters do not add up");
}
