"""Which tests belong to which folder."""

from collections import namedtuple

# programs: GoogleTest programs. e2e: a regular expression of ctest names, run if the programs find nothing.
Area = namedtuple("Area", "prefix programs e2e")

# area_of() selects the area with the longest prefix of a path.
AREAS = [
    Area("core/", ["core", "pipeline"], "e2e.serve.control"),
    Area("core/base/", ["core", "viewer", "session"], "e2e.commands"),
    Area("core/config/", ["core", "session"], "e2e.commands|e2e.serve.reload"),
    Area("core/control/", ["core", "session"], "e2e.serve.control|e2e.serve.http|e2e.serve.metrics"),
    Area("core/device/", ["core", "clock", "pipeline"], "e2e.commands"),
    Area("core/graph/", ["core", "pipeline", "session"], "e2e.headless"),
    Area("core/image/", ["core", "pipeline", "filter", "media"], "e2e.headless"),
    Area("core/media/", ["media", "live", "session"], "e2e.headless|e2e.serve.record|e2e.commands"),
    Area("core/media/camera/", ["camera", "media"], "e2e.commands"),
    Area("core/media/live/", ["live", "media"], "e2e.live"),
    Area("core/media/pipewire/", ["pipewire", "media"], "e2e.pipewire"),
    Area("core/media/sound/", ["sound", "media"], "e2e.viewer_sound"),
    Area("core/pipeline/", ["core", "pipeline", "session"], "e2e.headless"),
    Area("kernels/", ["geometry", "filter", "core", "golden"], "e2e.headless.every_filter"),
    Area("app/", ["session", "pipeline"], "e2e.commands|e2e.headless"),
    Area("app/commands/", ["session"], "e2e.commands|e2e.headless|e2e.serve.control"),
    Area("app/pipeline/", ["pipeline", "session", "viewer"], "e2e.headless|e2e.serve.record|e2e.pipewire_virtual"),
    Area("app/serve/", ["session"], "e2e.serve"),
    Area("app/viewer/", ["viewer"], "e2e.viewer"),
    Area("app/viewer/display/", ["viewer", "pipeline"], "e2e.viewer"),
    Area("ui/", ["ui", "viewer"], "e2e.viewer"),
]


def area_of(path):
    return max((a for a in AREAS if path.startswith(a.prefix)), key=lambda a: len(a.prefix))


def quick_filter(path):
    """Returns the GoogleTest filter of the tests that most likely find a mutant of a filter; empty: none."""
    parts = path.split("/")
    if parts[0] != "kernels" or len(parts) < 3 or parts[1] == "common":
        return ""
    name = parts[1]
    camel = "".join(word.capitalize() for word in name.split("_"))
    return f"*/{name}_*:*{camel}*-*_1920x1080"
