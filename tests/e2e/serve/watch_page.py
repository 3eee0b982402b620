"""Watches the picture of the panel page in headless Chromium: watch_page.py BROWSER PORT FOLDER

The daemon at PORT of the loopback interface must play a portrait picture with the graph gaussian. Saves screenshots to FOLDER. Exits with 1 and a message on failure.
"""
import sys

from browser import Browser

browser, port, folder = sys.argv[1:4]


def sizes():
    for name, width, height in (("desktop", 1440, 900), ("phone", 390, 844), ("phone-wide", 844, 390), ("low", 1440, 600)):
        b.size(width, height, width == 390)
        b.wait("$('picture').naturalHeight == 480", name + ": the portrait picture", 10)
        stage, picture = b.evaluate("""["stage", "picture"].map(id => {
            const box = $(id).getBoundingClientRect();
            return [box.left, box.top, box.right, box.bottom];
        })""")
        b.screenshot("portrait-" + name)
        if picture[0] < stage[0] or picture[1] < stage[1] or picture[2] > stage[2] + 0.5 or picture[3] > stage[3] + 0.5:
            sys.exit(f"{name}: the picture {picture} is cropped by its stage {stage}")
        shown = min((picture[2] - picture[0]) * 480 / 270, picture[3] - picture[1])
        if shown < 0.4 * height:
            sys.exit(f"{name}: the picture is only {shown:.0f} pixels high")
    b.size(1440, 900)


b = Browser(browser, folder)
try:
    b.open_tab()
    b.size(1440, 900)
    b.call("Page.navigate", url=f"http://127.0.0.1:{port}/")
    b.wait("document.querySelector('.node') && $('picture').naturalWidth > 100", "the page", 20)
    for part in (sizes,):
        part()
    b.check_problems()
finally:
    b.process.kill()
