"""Makes a table of links, or conversions, from many archives on many machines with Apache Spark.

Conversions never pass through the JVM: each attempt of a task writes its own file, on a path that
all workers see, and gives it its final name when it is complete. Equal input and date give equal
bytes, so that retries and speculation are harmless. In local mode Spark retries nothing unless its
master says so, as `local[2,4]` does. The function that opens archives must be importable by
the workers.
"""

from relbase.spark.jobs import Tables, convert, links, tables, troubles
from relbase.spark.tasks import Report

__all__ = ["Report", "Tables", "convert", "links", "tables", "troubles"]
