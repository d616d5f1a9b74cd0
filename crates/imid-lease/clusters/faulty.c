// Runs a program whose disk can be slow and whose clock can be wrong, without its help: faulty DELAY SECONDS PROGRAM ARGUMENT...
//
// DELAY is a file. While it has a number of milliseconds in it, each fsync and fdatasync of the program and of its threads takes
// so much longer, one after another as on one disk. The wall clock of the program shows SECONDS more than that of the machine;
// 0 leaves it alone. The program keeps the PID of this process. Needs Linux 5.5.
//
// A child of this process does it. System calls are held up by a filter of seccomp that asks the child first, so all others
// run at full speed. The clock is the function of the vDSO that libc and Go call: the child writes another one over it after `exec`,
// which only this program sees. A library before libc would not do, because Go calls neither fsync nor the clock through libc.

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what) {
  fprintf(stderr, "faulty: %s: %s\n", what, strerror(errno));
  _exit(1);
}

// Returns the number of milliseconds in a file, or 0.
static long milliseconds(const char *path) {
  char text[32] = "";
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  return length > 0 ? atol(text) : 0;
}

// Makes each fsync and fdatasync ask the descriptor that it returns.
static int filter(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fdatasync, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) fail("no_new_privs");
  int asked = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (asked < 0) fail("seccomp");
  return asked;
}

// Lets the calls go on after the delay, until the program has ended.
static void hold_up(int asked, const char *delay) {
  for (;;) {
    struct pollfd ready = {asked, POLLIN, 0};
    if (poll(&ready, 1, -1) < 0 && errno != EINTR) fail("poll");
    if (!(ready.revents & POLLIN)) {
      if (ready.revents) _exit(0);
      continue;
    }
    struct seccomp_notif call = {0};
    // The caller can be gone by now.
    if (ioctl(asked, SECCOMP_IOCTL_NOTIF_RECV, &call)) continue;
    long ms = milliseconds(delay);
    if (ms > 0) nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    struct seccomp_notif_resp reply = {.id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    ioctl(asked, SECCOMP_IOCTL_NOTIF_SEND, &reply);
  }
}

// Reads the memory of a process.
static void get(pid_t pid, uint64_t from, void *to, size_t length) {
  struct iovec here = {to, length}, there = {(void *)from, length};
  if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)length) fail("read the vDSO");
}

// Writes another clock over that of a process that has just begun its program.
static void change_clock(pid_t pid, int32_t seconds) {
#ifdef __x86_64__
  char path[64], line[512];
  uint64_t base = 0, end = 0;
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  FILE *maps = fopen(path, "re");
  if (!maps) fail(path);
  while (fgets(line, sizeof line, maps))
    if (strstr(line, "[vdso]")) sscanf(line, "%lx-%lx", &base, &end);
  fclose(maps);
  size_t length = end - base;
  unsigned char *vdso = malloc(length);
  if (!base || !vdso) fail("find the vDSO");
  get(pid, base, vdso, length);
  const Elf64_Ehdr *head = (void *)vdso;
  const Elf64_Shdr *sections = (void *)(vdso + head->e_shoff);
  uint64_t at = 0;
  for (int i = 0; i < head->e_shnum; i++) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const Elf64_Sym *symbols = (void *)(vdso + sections[i].sh_offset);
    const char *names = (void *)(vdso + sections[sections[i].sh_link].sh_offset);
    for (size_t s = 0; s < sections[i].sh_size / sizeof *symbols; s++)
      if (!strcmp(names + symbols[s].st_name, "__vdso_clock_gettime")) at = base + symbols[s].st_value;
  }
  if (!at) { errno = ENOENT; fail("__vdso_clock_gettime"); }
  // mov eax, SYS_clock_gettime; syscall; test edi, edi; jne +7; add qword [rsi], seconds; ret
  unsigned char code[24] = {0xb8, 0xe4, 0, 0, 0, 0x0f, 0x05, 0x85, 0xff, 0x75, 0x07, 0x48, 0x81, 0x06, 0, 0, 0, 0, 0xc3};
  memcpy(code + 14, &seconds, sizeof seconds);
  for (size_t i = 0; i < sizeof code; i += 8) {
    uint64_t word;
    memcpy(&word, code + i, 8);
    if (ptrace(PTRACE_POKEDATA, pid, at + i, word)) fail("write the vDSO");
  }
#else
  (void)pid, (void)seconds;
  errno = ENOTSUP;
  fail("a wrong clock is made on x86_64 only");
#endif
}

int main(int count, char **arguments) {
  if (count < 4) {
    fprintf(stderr, "faulty: expected DELAY SECONDS PROGRAM ARGUMENT...\n");
    return 2;
  }
  pid_t program = getpid();
  int seconds = atoi(arguments[2]), ready[2], asked[2];
  if (pipe2(ready, O_CLOEXEC) || pipe2(asked, O_CLOEXEC)) fail("pipe");
  // Where tracing is restricted, a child may not trace its parent otherwise. No error is one that matters.
  if (seconds) prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  // The child shares the descriptors until `exec`, so it has that of the filter.
  pid_t child = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
  if (child < 0) fail("clone");
  if (child == 0) {
    int from = -1;
    if (seconds) {
      if (ptrace(PTRACE_SEIZE, program, 0, PTRACE_O_TRACEEXEC)) fail("ptrace");
    }
    if (write(ready[1], "", 1) != 1 || read(asked[0], &from, sizeof from) != sizeof from) fail("pipe");
    if (seconds) {
      int status;
      if (waitpid(program, &status, __WALL) < 0) fail("wait");
      if (status >> 8 != (SIGTRAP | PTRACE_EVENT_EXEC << 8)) fail("exec");
      change_clock(program, seconds);
      if (ptrace(PTRACE_DETACH, program, 0, 0)) fail("detach");
    }
    hold_up(from, arguments[1]);
  }
  char one;
  if (read(ready[0], &one, 1) != 1) return 1;
  int from = filter();
  if (write(asked[1], &from, sizeof from) != sizeof from) fail("pipe");
  execvp(arguments[3], arguments + 3);
  fail(arguments[3]);
}
