// core/control: the camera's controls as properties.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/control/commands.hpp"
#include "core/control/events.hpp"
#include "tests/unit/core/control/fake_target.hpp"

namespace lensd {
namespace {

SourceControls sample_controls() {
  SourceControls controls;
  controls.list.push_back({.id = 1,
                           .name = "gain",
                           .label = "Gain",
                           .group = "User Controls",
                           .max = 255,
                           .value = int64_t{10},
                           .initial = int64_t{5}});
  controls.list.push_back({.id = 2,
                           .name = "auto_exposure",
                           .label = "Auto Exposure",
                           .kind = ControlKind::menu,
                           .choices = {"Manual Mode", "Auto"},
                           .numbers = {1, 3},
                           .value = std::string("Auto"),
                           .initial = std::string("Auto")});
  controls.list.push_back({.id = 3,
                           .name = "temperature",
                           .label = "Temperature",
                           .max = 100,
                           .value = int64_t{40},
                           .initial = int64_t{0},
                           .read_only = true});
  controls.list.push_back({.id = 4,
                           .name = "zoom_reset",
                           .label = "Zoom, Reset",
                           .kind = ControlKind::button,
                           .value = false,
                           .initial = false});
  return controls;
}

TEST(SourceProperties, LossesAndRateOfACamera) {
  FakeTarget target("invert");
  RunState state;
  state.source_fps = 30, state.live.rate = 29.12345;
  state.live.camera_broken = 7, state.live.camera_missed = 9;
  target.set_state(state);
  const Json counters = ask(target, {"get", "counters"}).data;
  EXPECT_EQ(counters["camera_broken"], 7);
  EXPECT_EQ(counters["camera_missed"], 9);
  const Json source = ask(target, {"get", "source"}).data;
  EXPECT_EQ(source["fps"], 30);
  EXPECT_EQ(source["measured_fps"], 29.123);
}

TEST(SourceProperties, AreUnknownUntilTheCameraIsConnected) {
  FakeTarget target("invert");
  RunState state;
  for (const char* name : {"connecting", "reconnecting"}) {
    state.source_state = name;
    target.set_state(state);
    const std::string problem =
        fmt::format("the source is {}; a camera lists its controls when it plays", name);
    for (const Json& command : {Json{"get", "source.gain"}, Json{"set", "source.gain", 3}}) {
      const Response response = ask(target, command);
      EXPECT_EQ(response.error, "source.gain: " + problem);
      EXPECT_EQ(response.status, Status::busy);
    }
    EXPECT_EQ(ask(target, {"reset-controls"}).error, problem);
  }
  state.source_state = "playing";
  target.set_state(state);
  EXPECT_EQ(ask(target, {"get", "source.gain"}).error, "source.gain: this source has no controls");
}

TEST(SourceProperties, AreReadSetAndReset) {
  FakeTarget target("canny@edges");
  target.set_controls(sample_controls());
  EXPECT_EQ(ask(target, {"get", "source.gain"}).data, 10);
  EXPECT_EQ(ask(target, {"get", "source.auto_exposure"}).data, "Auto");
  EXPECT_EQ(ask(target, {"get", "controls"}).data,
            (Json{{"gain", 10}, {"auto_exposure", "Auto"}, {"temperature", 40}}));
  EXPECT_EQ(ask(target, {"get", "source"}).data["name"], "") << "source itself is a property";

  EXPECT_EQ(ask(target, {"set", "source.gain", "20", "source.auto_exposure", 1, "edges.low", 5,
                         "source.zoom_reset", true})
                .error,
            "");
  ASSERT_EQ(target.posted().size(), 2u);
  const ControlValues expected{
      {"gain", int64_t{20}}, {"auto_exposure", std::string("Manual Mode")}, {"zoom_reset", true}};
  EXPECT_EQ(std::get<SetSourceControls>(target.posted()[0]).values, expected);
  EXPECT_EQ(ask(target, {"reset-controls", "source.gain"}).error, "");
  EXPECT_EQ(std::get<ResetSourceControls>(target.posted()[2]).names, std::vector<std::string>{"gain"});
  EXPECT_EQ(ask(target, {"reset-controls"}).error, "");
  EXPECT_TRUE(std::get<ResetSourceControls>(target.posted()[3]).names.empty());
}

TEST(SourceProperties, AreFoundAsTheyAreRead) {
  FakeTarget target("canny@edges,levels@colour");
  target.set_controls(sample_controls());
  const ControlView view = ControlView::of(target);
  std::vector<std::string> names{"source.gain",    "source.gian",    "colour.knee", "colour.saturation",
                                 "colour.nothing", "edges.low",      "edges.lo",    "edges.enabled",
                                 "edges",          "nobody.enabled", "nothing",     "",
                                 "source.enabled", "colour.enabled"};
  for (const Json& property : describe_properties()) names.push_back(property["name"]);
  for (const std::string& name : names)
    EXPECT_EQ(has_property(view, name), property_value(view, name).has_value()) << name;
}

TEST(SourceProperties, RefuseWrongValuesAndNames) {
  FakeTarget target("canny@edges");
  EXPECT_EQ(ask(target, {"get", "source.gain"}).error, "source.gain: this source has no controls");
  EXPECT_EQ(ask(target, {"reset-controls"}).error, "this source has no controls");
  target.set_controls(sample_controls());
  EXPECT_EQ(ask(target, {"set", "source.gain", 256}).error,
            "source: gain = 256 is not allowed, expected a whole number 0 to 255");
  EXPECT_EQ(ask(target, {"set", "source.temperature", 1}).error,
            "source: temperature cannot be set: it is read-only");
  EXPECT_EQ(ask(target, {"set", "source.gian", 1}).error,
            "the camera has no control 'gian' (did you mean gain?)");
  EXPECT_EQ(ask(target, {"set", "source.gain", Json::object()}).error,
            "source: gain: expected a whole number 0 to 255");
  EXPECT_FALSE(ask(target, {"set", "edges.low", 5, "source.gain", -1}).ok());
  EXPECT_FALSE(ask(target, {"reset-controls", "gian"}).ok());
  EXPECT_TRUE(target.posted().empty());
}

TEST(SourceProperties, IntegersMayBeSignedOrHexadecimal) {
  FakeTarget target("invert");
  SourceControls controls;
  controls.list.push_back(
      {.id = 1, .name = "offset", .min = -100, .max = 100, .value = int64_t{0}, .initial = int64_t{0}});
  target.set_controls(controls);
  for (const auto& [text, value] :
       {std::pair{"+5", 5}, {"-5", -5}, {"0x1f", 31}, {"-0X10", -16}, {"+0x5", 5}}) {
    EXPECT_EQ(ask(target, {"set", "source.offset", text}).error, "");
    EXPECT_EQ(std::get<SetSourceControls>(target.posted().back()).values,
              (ControlValues{{"offset", int64_t{value}}}));
  }
  for (const char* text : {"+-5", "--5", "0x-5", "-0x-5", "+0x-5", "-", "0x", "5 "})
    EXPECT_FALSE(ask(target, {"set", "source.offset", text}).ok()) << text;
}

TEST(SourceProperties, AreDescribed) {
  FakeTarget target("canny@edges");
  EXPECT_EQ(ask(target, {"list", "controls"}).data, Json::array());
  target.set_controls(sample_controls());
  const Json all = ask(target, {"list", "controls"}).data;
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0]["name"], "source.gain");
  EXPECT_EQ(all[0]["max"], 255);
  EXPECT_EQ(all[0]["default"], 5);
  EXPECT_EQ(all[1]["choices"], (Json{"Manual Mode", "Auto"}));
  EXPECT_EQ(all[2]["settable"], false);
  EXPECT_EQ(all[3]["type"], "button");
  EXPECT_FALSE(all[3].contains("value"));
}

/// JavaScript and other clients parse JSON numbers as double, which is exact up to 2^53.
TEST(SourceProperties, IntegersBeyondDoubleAreText) {
  FakeTarget target("invert");
  SourceControls controls;
  controls.list.push_back({.id = 1,
                           .name = "offset",
                           .min = INT64_MIN,
                           .max = INT64_MAX,
                           .value = int64_t{9007199254740993},
                           .initial = int64_t{0},
                           .wide = true});
  target.set_controls(controls);
  EXPECT_EQ(ask(target, {"get", "source.offset"}).data, "9007199254740993");
  const Json one = ask(target, {"list", "controls"}).data[0];
  EXPECT_EQ(one["value"], "9007199254740993");
  EXPECT_EQ(one["min"], "-9223372036854775808");
  EXPECT_EQ(one["max"], "9223372036854775807");
  EXPECT_EQ(one["default"], "0");
  EXPECT_EQ(ask(target, {"set", "source.offset", "-9007199254740995"}).error, "");
  EXPECT_EQ(std::get<SetSourceControls>(target.posted()[0]).values,
            (ControlValues{{"offset", int64_t{-9007199254740995}}}));
}

TEST(SourceProperties, ChangesAreObserved) {
  FakeTarget target("canny@edges");
  target.set_controls(sample_controls());
  EventHub hub;
  const auto client = hub.subscribe();
  ASSERT_TRUE(client->observe(1, "source.gain"));
  hub.tick(target);
  EXPECT_EQ(client->take(9).size(), 1u);
  hub.tick(target);
  EXPECT_TRUE(client->take(9).empty());
  SourceControls changed = sample_controls();
  changed.list[0].value = int64_t{99};
  target.set_controls(changed);
  hub.tick(target);
  const auto events = client->take(9);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(Json::parse(events[0])["data"], 99);
}

TEST(SourceControlValues, NumbersMayBeText) {
  SourceControl gain;
  gain.name = "gain", gain.min = -300, gain.max = 300, gain.value = gain.initial = int64_t{0};
  const std::pair<const char*, int64_t> numbers[] = {{"47", 47},     {"+47", 47},    {"-47", -47}, {"7", 7},
                                                     {"0x2f", 0x2f}, {"-0X2F", -47}, {"0", 0}};
  for (const auto& [text, number] : numbers)
    EXPECT_EQ(check_control(gain, std::string(text)).value, ParamValue(number)) << text;
  for (const char* text : {"", "4x", "--4", "+-4", "0x", "0x-4", "1.5", "seven"})
    EXPECT_FALSE(check_control(gain, std::string(text)).problem.empty()) << text;
}

SourceControl control_of(ControlKind kind, int64_t min, int64_t max, int64_t step = 1) {
  SourceControl control;
  control.name = "gain", control.kind = kind;
  control.min = min, control.max = max, control.step = step;
  return control;
}

std::string why_refused(const SourceControl& control, const ParamValue& value) {
  return check_control(control, value).problem;
}

TEST(SourceControlValues, IntegersAreInTheRangeAndOnTheStep) {
  const SourceControl stepped = control_of(ControlKind::integer, -5, 10, 5);
  for (const int64_t allowed : {-5, 0, 5, 10}) {
    EXPECT_EQ(check_control(stepped, allowed).value, ParamValue(allowed));
    EXPECT_EQ(check_control(stepped, static_cast<double>(allowed)).value, ParamValue(allowed));
  }
  for (const int64_t refused : {-10, -6, -4, 1, 4, 9, 11, 15}) EXPECT_NE(why_refused(stepped, refused), "");
  for (const double refused : {0.5, -5.1, 10.5}) EXPECT_NE(why_refused(stepped, refused), "") << refused;
  EXPECT_NE(why_refused(stepped, true), "") << "no number";
  const SourceControl any = control_of(ControlKind::integer, 0, INT64_MAX, 0);
  EXPECT_EQ(check_control(any, 9007199254740992.0).value, ParamValue(int64_t{1} << 53));
  EXPECT_NE(why_refused(any, 9007199254740994.0), "") << "larger doubles skip integers";
  const SourceControl plain = control_of(ControlKind::integer, 0, 10);
  EXPECT_EQ(why_refused(plain, int64_t{11}), "gain = 11 is not allowed, expected a whole number 0 to 10");
  EXPECT_EQ(why_refused(plain, std::string("x")),
            "gain = 'x' is not allowed, expected a whole number 0 to 10");
}

TEST(SourceControlValues, MasksHaveOnlyTheirBits) {
  const SourceControl bits = control_of(ControlKind::bitmask, 0, 0x2011);
  for (const int64_t allowed : {0, 1, 0x10, 0x11, 0x2000, 0x2011})
    EXPECT_EQ(check_control(bits, allowed).value, ParamValue(allowed));
  for (const int64_t refused : {2, 0x12, 0x1000, 0x2013, -1}) EXPECT_NE(why_refused(bits, refused), "");
  EXPECT_EQ(check_control(bits, std::string("0x11")).value, ParamValue(int64_t{0x11}));
}

TEST(SourceControlValues, SwitchesTakeWordsAndButtonsOnlyTrue) {
  const SourceControl on_off = control_of(ControlKind::boolean, 0, 1);
  const SourceControl press = control_of(ControlKind::button, 0, 0);
  const auto text = [](const char* word) { return ParamValue(std::string(word)); };
  for (const ParamValue& yes :
       {ParamValue(true), ParamValue(int64_t{1}), text("true"), text("1"), text("on"), text("yes")}) {
    EXPECT_EQ(check_control(on_off, yes).value, ParamValue(true));
    EXPECT_EQ(check_control(press, yes).value, ParamValue(true));
  }
  for (const ParamValue& no :
       {ParamValue(false), ParamValue(int64_t{0}), text("false"), text("0"), text("off"), text("no")}) {
    EXPECT_EQ(check_control(on_off, no).value, ParamValue(false));
    EXPECT_EQ(why_refused(on_off, no), "");
    EXPECT_NE(why_refused(press, no), "");
  }
  for (const ParamValue& other : {ParamValue(int64_t{2}), text(""), text("ON"), text("y")}) {
    EXPECT_NE(why_refused(on_off, other), "");
    EXPECT_NE(why_refused(press, other), "");
  }
}

TEST(SourceControlValues, MenusTakeTextsBeforeAliasesBeforeNumbers) {
  SourceControl menu = control_of(ControlKind::menu, 1, 50);
  menu.choices = {"Low", "50", "High"}, menu.numbers = {1, 2, 50}, menu.aliases = {{"lo", "Low"}};
  const auto chosen = [&](const ParamValue& value) {
    const CheckedControl checked = check_control(menu, value);
    return checked.problem.empty() ? to_string(checked.value) : "refused";
  };
  EXPECT_EQ(chosen(std::string("High")), "High");
  EXPECT_EQ(chosen(std::string("lo")), "Low");
  EXPECT_EQ(chosen(std::string("50")), "50") << "the text of an entry, not the number of another one";
  EXPECT_EQ(chosen(int64_t{50}), "50");
  EXPECT_EQ(chosen(int64_t{1}), "Low");
  EXPECT_EQ(chosen(std::string("2")), "50");
  for (const ParamValue& refused :
       {ParamValue(true), ParamValue(int64_t{0}), ParamValue(int64_t{3}), ParamValue(std::string("low"))})
    EXPECT_EQ(chosen(refused), "refused");
}

TEST(SourceControlValues, TextsHaveALength) {
  const SourceControl text = control_of(ControlKind::text, 2, 4);
  for (const char* allowed : {"ab", "abc", "abcd"}) EXPECT_EQ(why_refused(text, std::string(allowed)), "");
  for (const char* refused : {"", "a", "abcde"})
    EXPECT_NE(why_refused(text, std::string(refused)), "") << refused;
  EXPECT_NE(why_refused(text, std::string("a\0b", 3)), "") << "the driver would end it at the zero";
  EXPECT_EQ(check_control(text, int64_t{123}).value, ParamValue(std::string("123")));
  EXPECT_NE(why_refused(text, true), "");
  EXPECT_NE(why_refused(text, 1.5), "");
}

TEST(SourceControlValues, LockedControlsCannotBeSet) {
  SourceControl control = control_of(ControlKind::integer, 0, 10);
  control.locked = true;
  EXPECT_EQ(why_refused(control, int64_t{1}), "gain cannot be set while the camera streams");
  control.locked = false, control.read_only = true;
  EXPECT_EQ(why_refused(control, int64_t{1}), "gain cannot be set: it is read-only");
}

TEST(SourceControlValues, PresetsKeepStatesThatCanBeSet) {
  const auto saved = [](const SourceControl& control, const ControlValues& wanted = {}) {
    SourceControls controls;
    controls.list = {control}, controls.wanted = wanted;
    return values_to_save(controls);
  };
  SourceControl changed = control_of(ControlKind::integer, 0, 10);
  changed.value = int64_t{3}, changed.initial = int64_t{1};
  const ControlValues three{{"gain", int64_t{3}}}, seven{{"gain", int64_t{7}}};
  EXPECT_EQ(saved(changed), three);
  EXPECT_EQ(saved(changed, seven), seven);
  EXPECT_EQ(saved(changed, {{"other", int64_t{7}}}), three);
  SourceControl unchanged = changed;
  unchanged.value = unchanged.initial;
  EXPECT_TRUE(saved(unchanged).empty());
  EXPECT_EQ(saved(unchanged, seven), seven) << "the user has set it";
  for (bool SourceControl::*flag :
       {&SourceControl::inactive, &SourceControl::read_only, &SourceControl::locked,
        &SourceControl::write_only, &SourceControl::self_changing, &SourceControl::moves}) {
    SourceControl other = changed;
    other.*flag = true;
    EXPECT_TRUE(saved(other).empty());
    EXPECT_EQ(saved(other, seven), seven);
  }
  for (const ControlKind kind : {ControlKind::text, ControlKind::button}) {
    SourceControl other = changed;
    other.kind = kind;
    EXPECT_TRUE(saved(other).empty());
  }
}

}  // namespace
}  // namespace lensd
