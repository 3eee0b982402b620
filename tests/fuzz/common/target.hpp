// A control target that replies at once and counts the commands that need a token.
#pragma once

#include <utility>

#include "tests/fuzz/common/require.hpp"
#include "tests/unit/core/control/fake_target.hpp"

namespace lensd::fuzz {

class Target : public FakeTarget {
 public:
  Target() : FakeTarget("median@soft=radius=1,canny@edges") {}

  bool post(Command command) override {
    ++changes;
    if (const auto* step = std::get_if<Step>(&command)) require(step->frames != 0, "a step of no frame");
    return FakeTarget::post(std::move(command));
  }
  void set_graph(GraphDesc, Reply reply) override { changed(reply); }
  void edit_graph(GraphEdit edit, Reply reply) override {
    ++changes;
    FakeTarget::edit_graph(std::move(edit), std::move(reply));
  }
  void load(std::string, Reply reply) override { changed(reply); }
  void reload(Reply reply) override { changed(reply); }
  void snapshot(std::string, Reply reply) override { changed(reply); }
  void trace(std::string, Reply reply) override { changed(reply); }
  void record(bool, StartRecord, Reply reply) override { changed(reply); }
  void quit() override {
    ++changes;
    FakeTarget::quit();
  }

  std::atomic<int> changes{0};

 private:
  void changed(const Reply& reply) {
    ++changes;
    reply({});
  }
};

}  // namespace lensd::fuzz
