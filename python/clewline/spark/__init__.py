"""Clewline on Apache Spark: recordings that are larger than a machine, and campaigns.

`check` judges the objects of a DataFrame where they are: it brings the operations of each object
together, and each task judges those of its partition. `explore`, `stress` and `actors` run the
shards of a command.

A result is believed only if it accounts for the whole input: every task says how many operations it
judged and the sum of a checksum of them, and both sums must be those of the input. So an attempt
that Spark repeats, loses or counts twice becomes an error, and never a verdict.
"""

from ._campaign import Campaign, actors, explore, stress
from ._check import check
from ._errors import IncompleteError, ReadError, SparkError, VersionError

__all__ = [
    "Campaign",
    "IncompleteError",
    "ReadError",
    "SparkError",
    "VersionError",
    "actors",
    "check",
    "explore",
    "stress",
]
