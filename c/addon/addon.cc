// The addon: gives JavaScript the clocks, the board's mapping, the writer, the receive thread and bulk sending.
// Translates and owns; what these do stands in the C files. Here: clocks, files, locks, service managers, hashes, and
// many datagrams at once.

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

extern "C" {
#include "../base/lockfile.h"
#include "../base/notify.h"
#include "../base/refusals.h"
#include "../base/wholefile.h"
}
#include "addon.h"
extern "C" {
#include "bulk_send.h"
}

namespace addon {
namespace {

uint64_t Nanoseconds(clockid_t clock) { return static_cast<uint64_t>(bb_clock_ns(clock)); }

// clocks(into: BigUint64Array): CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_MONOTONIC, back to back.
void Clocks(const Napi::CallbackInfo& info) {
  auto into = info[0].As<Napi::BigUint64Array>();
  into[0] = Nanoseconds(CLOCK_REALTIME);
  into[1] = Nanoseconds(CLOCK_BOOTTIME);
  into[2] = Nanoseconds(CLOCK_MONOTONIC);
}

// adjtimex(): { offsetUs, maxErrorUs, unsynchronised }, or undefined where the kernel does not tell (a container).
Napi::Value Adjtimex(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  struct timex clock = {};
  const int state = adjtimex(&clock); // modes is 0: it only reads
  if (state < 0) return env.Undefined();
  auto out = Napi::Object::New(env);
  const double scale = (clock.status & STA_NANO) != 0 ? 1000.0 : 1.0;
  out.Set("offsetUs", Napi::Number::New(env, static_cast<double>(clock.offset) / scale));
  out.Set("maxErrorUs", Napi::Number::New(env, static_cast<double>(clock.maxerror)));
  out.Set("unsynchronised", Napi::Boolean::New(env, state == TIME_ERROR || (clock.status & STA_UNSYNC) != 0));
  return out;
}

// The text of a file from its beginning: readText below.
Napi::Value TextOf(Napi::Env env, int fd, size_t most, bool cut) {
  // Kept, so that a report allocates nothing; a thread has its own, because an addon is loaded once for all of them.
  static thread_local std::unique_ptr<char[]> text;
  static thread_local size_t room = 0;
  if (room < most) text.reset(new char[room = most]);
  size_t length = most;
  const int error = read_whole(fd, FILE_IN_LINES, PAGE, text.get(), most, &length);
  if (error != 0 && !(error == TOO_LARGE && cut)) return Napi::Number::New(env, error == TOO_LARGE ? -EFBIG : -error);
  return Napi::String::New(env, text.get(), length);
}

// readText(file, most, cut): the text of an open file, or of the regular file at a path, or -errno; of a file that has
// so many bytes or more the first ones if it may be cut, otherwise -EFBIG. A FIFO does not hang it.
Napi::Value ReadText(const Napi::CallbackInfo& info) {
  const size_t most = info[1].As<Napi::Number>().Uint32Value();
  const bool cut = info[2].As<Napi::Boolean>().Value();
  if (info[0].IsNumber()) return TextOf(info.Env(), info[0].As<Napi::Number>().Int32Value(), most, cut);
  const std::string path = info[0].As<Napi::String>();
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return Napi::Number::New(info.Env(), -errno);
  struct stat stats;
  const bool is_file = fstat(fd, &stats) == 0 && S_ISREG(stats.st_mode);
  const Napi::Value text = is_file ? TextOf(info.Env(), fd, most, cut) : Napi::Number::New(info.Env(), -EINVAL);
  close(fd);
  return text;
}

// unread(fd): how many bytes the kernel keeps of what was written to a TCP socket because the peer has not taken them;
// 0 if that is not known.
Napi::Value Unread(const Napi::CallbackInfo& info) {
  int bytes = 0;
  if (ioctl(info[0].As<Napi::Number>().Int32Value(), SIOCOUTQ, &bytes) < 0) bytes = 0;
  return Napi::Number::New(info.Env(), bytes);
}

// memoryFile(name): the descriptor of a file in memory that no path leads to. Not for programs that we become.
Napi::Value MemoryFile(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const int fd = memfd_create(info[0].As<Napi::String>().Utf8Value().c_str(), MFD_CLOEXEC);
  if (fd < 0) throw Napi::Error::New(env, std::string("no file in memory: ") + std::strerror(errno));
  return Napi::Number::New(env, fd);
}

// lock(path): a file that is made where it is not there, held alone until this process ends: its descriptor, or -errno.
Napi::Value Lock(const Napi::CallbackInfo& info) {
  const std::string path = info[0].As<Napi::String>();
  struct stat st;
  const int fd = bb_lockfile_take(AT_FDCWD, path.c_str(), LOCK_NB, &st);
  return Napi::Number::New(info.Env(), fd < 0 ? -errno : fd);
}

// actAs(uid, gid): from now on this thread alone acts as that user and group; with 0 it is root's again. 0, or -errno.
// The C library would change all threads, and so would Node, whose setegid() refuses where libuv may use io_uring: its
// threads keep what they began with.
Napi::Value ActAs(const Napi::CallbackInfo& info) {
  const uint32_t uid = info[0].As<Napi::Number>().Uint32Value(), gid = info[1].As<Napi::Number>().Uint32Value();
  // Only root may change its group.
  const bool done = (geteuid() == 0 || syscall(SYS_setresuid, -1, 0, -1) == 0) &&
                    syscall(SYS_setresgid, -1, gid, -1) == 0 && syscall(SYS_setresuid, -1, uid, -1) == 0;
  return Napi::Number::New(info.Env(), done ? 0 : -errno);
}

// notify(path, message): 0, or -errno.
Napi::Value Notify(const Napi::CallbackInfo& info) {
  const std::string path = info[0].As<Napi::String>(), message = info[1].As<Napi::String>();
  return Napi::Number::New(info.Env(), bb_notify(path.c_str(), message.c_str()));
}

// refusableSocket(v6): the descriptor of a UDP socket whose refusals the kernel keeps, or -errno.
Napi::Value RefusableSocket(const Napi::CallbackInfo& info) {
  const int family = info[0].ToBoolean() ? AF_INET6 : AF_INET;
  const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0) refusals_keep(fd, family);
  return Napi::Number::New(info.Env(), fd < 0 ? -errno : fd);
}

// refusals(fd, bytes): { count, cause, pieces }: texts, which may be empty.
Napi::Value Refusals(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const int fd = info[0].As<Napi::Number>().Int32Value();
  char text[2][160] = {};
  struct words cause = {text[0], sizeof text[0], 0}, pieces = {text[1], sizeof text[1], 0};
  auto out = Napi::Object::New(env);
  out.Set("count", Napi::Number::New(env, refusals_take(fd, &cause)));
  refusals_pieces(fd, info[1].As<Napi::Number>().Uint32Value(), &pieces);
  out.Set("cause", Napi::String::New(env, text[0]));
  out.Set("pieces", Napi::String::New(env, text[1]));
  return out;
}

class BulkSender : public Napi::ObjectWrap<BulkSender> {
 public:
  static Napi::Function Class(Napi::Env env) {
    return DefineClass(env, "BulkSender",
                       {InstanceMethod("send", &BulkSender::Send), InstanceMethod("close", &BulkSender::Close)});
  }

  explicit BulkSender(const Napi::CallbackInfo& info) : Napi::ObjectWrap<BulkSender>(info) {
    const std::string host = info[0].As<Napi::String>();
    fd_ = bb_bulk_open(host.c_str(), static_cast<uint16_t>(info[1].As<Napi::Number>().Uint32Value()));
    if (fd_ < 0) throw Napi::Error::New(info.Env(), "cannot send to " + host + ": " + strerror(-fd_));
  }

  ~BulkSender() override {
    if (fd_ >= 0) close(fd_);
  }

 private:
  // send(datagrams, bytes, first, count): how many were sent.
  Napi::Value Send(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    auto data = info[0].As<Napi::Uint8Array>();
    const size_t bytes = info[1].As<Napi::Number>().Uint32Value();
    const size_t first = info[2].As<Napi::Number>().Uint32Value();
    const size_t count = info[3].As<Napi::Number>().Uint32Value();
    if (bytes == 0 || (first + count) * bytes > data.ByteLength())
      throw Napi::RangeError::New(env, "more datagrams than there are bytes");
    const long sent = bb_bulk_send(fd_, data.Data() + first * bytes, bytes, count);
    if (sent < 0) throw Napi::Error::New(env, std::string("cannot send: ") + strerror(static_cast<int>(-sent)));
    return Napi::Number::New(env, static_cast<double>(sent));
  }

  void Close(const Napi::CallbackInfo&) {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

  int fd_ = -1;
};

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("clocks", Napi::Function::New(env, Clocks));
  exports.Set("adjtimex", Napi::Function::New(env, Adjtimex));
  exports.Set("readText", Napi::Function::New(env, ReadText));
  exports.Set("unread", Napi::Function::New(env, Unread));
  exports.Set("lock", Napi::Function::New(env, Lock));
  exports.Set("actAs", Napi::Function::New(env, ActAs));
  exports.Set("memoryFile", Napi::Function::New(env, MemoryFile));
  exports.Set("notify", Napi::Function::New(env, Notify));
  exports.Set("refusableSocket", Napi::Function::New(env, RefusableSocket));
  exports.Set("refusals", Napi::Function::New(env, Refusals));
  exports.Set("BulkSender", BulkSender::Class(env));
  AddPrinting(env, exports);
  AddMapping(env, exports);
  AddReceiving(env, exports);
  AddRelaying(env, exports);
  AddAnswering(env, exports);
  return exports;
}

NODE_API_MODULE(beoboard, Init)

}  // namespace
}  // namespace addon
