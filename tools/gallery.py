"""Pictures of all examples, as the page shows them: docs/images/gallery/*.png, docs/gallery.md and docs/images/page.png.

.venv/bin/python tools/gallery.py            (needs Chromium; `make gallery`)
"""

from __future__ import annotations

import io
import tempfile
import time
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from madi.cli.models import template, templates
from madi.papers.files import FILES
from madi.schema.read import loads

DOCS = Path(__file__).parents[1] / "docs"
MOMENT = {
    "four-bar": 0.2, "pendulum": 0.07, "robot-arm": 0.45, "quarter-car": 0.19, "tracked": 0.6, "6x6": 0.33,
    "lane-change": 0.6,
}  # fmt: skip
TRACE = {"four-bar": "coupler", "pendulum": "lower", "robot-arm": "tool", "flexible-arm": "load"}
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-background-networking", "--enable-unsafe-swiftshader",
    "--window-size=1400,900",
)  # fmt: skip


def browser() -> webdriver.Chrome:
    """A headless Chromium."""
    options = Options()
    for flag in FLAGS:
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def main() -> None:
    """Run, view, take a picture of each."""
    driver = browser()
    folder = Path(tempfile.mkdtemp())
    for name in templates():
        run = loads(template(name), name).simulate()
        path = run.view(folder / f"{name}.html", trace=TRACE.get(name))
        driver.get(f"{path.as_uri()}#fine")
        time.sleep(1.5)
        driver.execute_script(f"madi.play(false); madi.seek({MOMENT.get(name, 0.4)} * madi.run.end)")
        time.sleep(2.0)
        raw = driver.find_element("id", "stage").screenshot_as_png
        picture = Image.open(io.BytesIO(raw)).convert("RGB")
        picture.resize((picture.width * 2 // 3, picture.height * 2 // 3), Image.LANCZOS).quantize(128).save(
            DOCS / "images/gallery" / f"{name}.png", optimize=True
        )
        if name == "6x6":
            whole = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
            whole.quantize(200).save(DOCS / "images/page.png", optimize=True)
        print(name)
    driver.quit()
    write_page()


def write_page() -> None:
    """docs/gallery.md."""
    lines = ["# Gallery", "", "Each is a model file: `madi new NAME`, then `madi run` and `madi view`.", ""]
    for title, names in (
        ("Examples", [name for name in templates() if name not in FILES and name != "five-dof"]),
        ("The papers' experiments", [name for name in templates() if name in FILES or name == "five-dof"]),
    ):
        lines += [f"## {title}", ""]
        for name in names:
            lines += [f"### {name}", "", templates()[name] + ".", "", f"![{name}](images/gallery/{name}.png)", ""]
    lines += ["Their tables and figures: [the papers' experiments](papers.md), `madi papers NAME`.", ""]
    (DOCS / "gallery.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
