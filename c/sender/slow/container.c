/* Whether the sender runs in a container, by what /proc shows to every user. Does not trust files in the root like
 * /.dockerenv: images made from containers keep them on metal. */
#include <unistd.h>

#include "mounts.h"

/* The kernel's constant for the first PID namespace, PROC_PID_INIT_INO. */
#define FIRST_NAMESPACE SPAN("pid:[4026531836]")

/* Whether the link /proc/self/ns/pid names another namespace than the machine's. */
static bool in_foreign_namespace(struct reading *now) {
  path_begin(now, now->world->proc, now->world->process);
  path_text(now, "/ns/pid");
  char target[64];
  const ssize_t length = readlink(now->path, target, sizeof target);
  if (length <= 0) return false;
  const struct span link = {target, (size_t)length};
  struct span left = link;
  return eat(&left, SPAN("pid:[")) && eat_digits(&left, 1, 10, NULL) && span_is(left, SPAN("]")) &&
         !span_is(link, FIRST_NAMESPACE);
}

static bool at_line_end(struct span left) {
  return left.len == 0 || left.at[0] == '\n' || left.at[0] == '\r' || begins(left, SPAN("\xe2\x80\xa8")) ||
         begins(left, SPAN("\xe2\x80\xa9"));
}

/* The name after a slash that a runtime gives to the cgroup of a container; a service called docker is not one. */
static bool is_container_name(struct span left) {
  static const struct span runtimes[] = {SPAN_TEXT("docker"), SPAN_TEXT("libpod"), SPAN_TEXT("cri-containerd"),
                                         SPAN_TEXT("crio"), SPAN_TEXT("containerd")};
  struct span rest = left;
  if (eat(&rest, SPAN("kubepods")))
    return at_line_end(rest) || rest.at[0] == '.' || rest.at[0] == '-' || rest.at[0] == '/';
  if (eat(&rest, SPAN("lxc"))) return begins(rest, SPAN(".payload.")) || begins(rest, SPAN("/"));
  for (size_t i = 0; i < sizeof runtimes / sizeof runtimes[0]; i++) {
    rest = left;
    if (!eat(&rest, runtimes[i]) || (!eat(&rest, SPAN("-")) && !eat(&rest, SPAN("/")))) continue;
    size_t digits = 0;
    while (digits < rest.len && digits < 64 &&
           (is_digit(rest.at[digits]) || (rest.at[digits] >= 'a' && rest.at[digits] <= 'f')))
      digits++;
    if (digits == 64) return true;
  }
  return false;
}

static bool in_container_cgroup(struct reading *now, const char *process) {
  struct span left;
  path_begin(now, now->world->proc, process);
  path_text(now, "/cgroup");
  if (!read_text(now, MAYBE, &left)) return false;
  for (const char *slash; (slash = find_char(left, '/')) != NULL;) {
    left = without(left, (size_t)(slash - left.at) + 1);
    if (is_container_name(left)) return true;
  }
  return false;
}

/* The folders where runtimes keep the layers of a container's root. */
static bool is_layer_folder(struct span name) {
  static const struct span folders[] = {SPAN_TEXT("docker"), SPAN_TEXT("containers"), SPAN_TEXT("containerd"),
                                        SPAN_TEXT("buildkit")};
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
    if (span_is(name, folders[i])) return true;
  if (!eat(&name, SPAN("io.containerd.")) || name.len < 1 || name.len > 40) return false;
  for (size_t i = 0; i < name.len; i++) {
    const char c = name.at[i];
    if (!is_digit(c) && (c < 'a' || c > 'z') && c != '.' && c != '-') return false;
  }
  return true;
}

/* A root on an overlay is not enough: diskless nodes have one. */
static bool is_layered(const struct mounts *mounts) {
  struct mount root;
  if (!mount_of(mounts, SPAN("/"), &root) || !span_is(root.type, SPAN("overlay"))) return false;
  struct span left = root.options, part;
  if (!next_part(&left, '/', &part)) return false;
  while (next_part(&left, '/', &part))
    if (left.at != NULL && is_layer_folder(part)) return true; /* a folder has a slash on both sides */
  return false;
}

static bool has_container_root(struct reading *now) {
  struct mounts *mounts = open_mounts(now, MAYBE);
  const bool layered = mounts != NULL && is_layered(mounts);
  close_mounts(mounts);
  return layered;
}

void slow_container(struct reading *now) {
  if (in_foreign_namespace(now) || in_container_cgroup(now, "/1") || in_container_cgroup(now, now->world->process) ||
      has_container_root(now))
    now->flags |= (uint32_t)BB_FLAGS_CONTAINER;
}
