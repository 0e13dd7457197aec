"""The recipe of conda-forge: it says what pyproject.toml says, and rattler-build renders it."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

import pytest

import relbase
from tools.commands import ROOT

RECIPE: Final = ROOT / "tools" / "conda" / "recipe.yaml"
# What conda-forge's own configuration pins.
PINNED: Final = {
    "python": ["3.11.*", "3.14.*"],
    "c_compiler": ["gcc"],
    "c_compiler_version": ["14"],
    "c_stdlib": ["sysroot"],
    "c_stdlib_version": ["2.17"],
}


def rendered(platform: str) -> list[dict[str, Any]]:
    builder = pytest.importorskip("rattler_build", reason="py-rattler-build is not installed")
    about = builder.RenderConfig(platform=builder.PlatformConfig(target_platform=platform))
    variants = builder.Stage0Recipe.from_file(RECIPE).render(builder.VariantConfig(PINNED), about)
    return [variant.recipe.to_dict() for variant in variants]


def needed(requirements: list[str]) -> set[str]:
    """Requirements of Python as conda has them, in either form."""
    return {re.sub(r"\s", "", requirement) for requirement in requirements}


@pytest.mark.parametrize("platform", ["linux-64", "linux-aarch64", "osx-arm64", "win-64"])
def test_the_recipe_is_rendered_for_each_python_with_a_compiler(platform: str) -> None:
    recipes = rendered(platform)
    assert len({recipe["build"]["string"] for recipe in recipes}) == len(PINNED["python"])
    assert all(f"gcc_{platform} 14.*" in recipe["requirements"]["build"] for recipe in recipes)


def test_the_recipe_has_the_version_and_the_dependencies_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    recipe = rendered("linux-64")[0]
    assert recipe["package"] == {"name": "relbase", "version": relbase.__version__}
    assert recipe["about"]["license"] == project["project"]["license"]
    requirements = recipe["requirements"]
    built = {"python", "pip"} | needed(project["build-system"]["requires"])
    assert needed(requirements["host"]) == built
    assert needed(requirements["run"]) == {"python"} | needed(project["project"]["dependencies"])
