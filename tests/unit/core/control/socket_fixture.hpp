// A control socket in a temporary folder, for tests of its clients and of its file.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "core/control/events.hpp"
#include "core/control/socket/control_client.hpp"
#include "core/control/socket/socket_server.hpp"
#include "tests/unit/common/temporary_folder.hpp"
#include "tests/unit/core/control/fake_target.hpp"

namespace lensd {

class SocketTest : public ::testing::Test {
 protected:
  SocketOptions options() const {
    SocketOptions o;
    o.path = folder_ / "control.sock";
    o.tick_ns = 20'000'000;
    return o;
  }
  void start(SocketOptions o) { server_ = std::make_unique<SocketServer>(target_, hub_, std::move(o)); }
  Json ask(ControlClient& client, const std::string& line) {
    client.send(line);
    for (;;) {
      const auto text = client.receive(10'000);
      if (!text) return nullptr;
      Json answer = Json::parse(*text);
      if (!answer.contains("event")) return answer;
    }
  }

  TemporaryFolder folder_;
  FakeTarget target_{"canny@edges"};
  EventHub hub_;
  std::unique_ptr<SocketServer> server_;
};

}  // namespace lensd
