// A redis-server of a test's own, on a socket in a fresh directory and, if asked, a port; ended with the object.
#pragma once

#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace switchgear::test {

/// One that nobody has at the moment.
inline std::uint16_t free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool found = bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(probe);
  if (!found) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

struct on_tcp_t {};
inline constexpr on_tcp_t on_tcp;

class redis_server {
 public:
  explicit redis_server(on_tcp_t) : redis_server({}, free_port()) {}
  explicit redis_server(std::vector<std::string> options = {}, std::uint16_t port = 0) : port_(port) {
    char folder[] = "/tmp/switchgear-redis-XXXXXX";
    if (mkdtemp(folder) == nullptr) throw std::runtime_error("no directory for redis-server");
    folder_ = folder;
    std::vector<std::string> words = {"redis-server",  "--port",    std::to_string(port),
                                      "--bind",        "127.0.0.1", "--unixsocket",
                                      socket(),        "--save",    "",
                                      "--dir",         folder_,     "--logfile",
                                      folder_ + "/log"};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    child_ = fork();
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is killed must not leave it behind
      execvp(argv[0], argv.data());
      _exit(127);
    }
    for (int i = 0; i < 500 && !listens(); ++i) {
      if (waitpid(child_, nullptr, WNOHANG) != 0) {
        child_ = 0;
        throw std::runtime_error("redis-server did not start; is the package redis-server installed?");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  ~redis_server() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  redis_server(const redis_server&) = delete;
  redis_server& operator=(const redis_server&) = delete;

  std::string socket() const { return folder_ + "/redis.sock"; }
  std::uint16_t port() const { return port_; }
  pid_t pid() const { return child_; }

 private:
  // The socket is there a moment before anybody answers on it.
  bool listens() const {
    const int tried = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un where{};
    where.sun_family = AF_UNIX;
    socket().copy(where.sun_path, sizeof where.sun_path - 1);
    const bool answers = connect(tried, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0;
    close(tried);
    return answers;
  }

  std::string folder_;
  std::uint16_t port_;
  pid_t child_ = 0;
};

}  // namespace switchgear::test
