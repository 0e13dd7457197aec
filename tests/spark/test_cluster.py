"""The recipe of docs/archives.md: relbase is sent to executors that do not have it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from archives import gz, http, response

import relbase
from tools.wheels import PURE, make

pyspark = pytest.importorskip("pyspark", reason="Spark: extra `spark`")
pytest.importorskip("hatchling", reason="builds the wheel")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
]

ROOT: Final = Path(relbase.__file__).parents[1]

JOB: Final = """
import json, sys
import pyarrow as pa
from pyspark.sql import SparkSession
from relbase.spark import convert, links

path, package, output = sys.argv[1:]
builder = SparkSession.builder.master("local-cluster[1,1,1024]").config("spark.ui.enabled", "false")
session = builder.config("spark.log.level", "OFF").getOrCreate()
session.sparkContext.addPyFile(package)

def where(batches):
    import relbase
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"where": [f"{relbase.__file__} {relbase.scanner}"]})

urls = [row.url for row in links(session, [path]).collect()]
[report] = convert(session, [path], output, date="2026-01-02T03:04:05Z")
[row] = session.range(1).mapInArrow(where, "where string").collect()
print(json.dumps([urls, report.conversions, row.where]))
"""


def test_a_wheel_without_a_compiler_is_sent_to_executors(tmp_path: Path) -> None:
    wheel = make(PURE, tmp_path)
    assert wheel.name.endswith("-py3-none-any.whl")
    package = shutil.copy(wheel, tmp_path / "relbase.zip")
    path = tmp_path / "x.warc.gz"
    path.write_bytes(gz(response(1, "http://h/d/", http(b"<a href=x>"))))
    (tmp_path / "job.py").write_text(JOB)
    ran = subprocess.run(
        [sys.executable, "job.py", str(path), str(package), str(tmp_path / "out")],
        cwd=tmp_path,
        env={**os.environ, "SPARK_HOME": os.path.dirname(pyspark.__file__)},  # noqa: PTH120
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    urls, conversions, where = json.loads(ran.stdout.splitlines()[-1])
    assert (urls, conversions) == (["http://h/d/x"], 1)
    assert where.endswith("relbase.zip/relbase/__init__.py exact")
