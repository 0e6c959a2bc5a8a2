"""Files to rows: formats, encodings, JSON without a key lost, and the line that says what was understood."""

from rlsum.readers.formats import READERS, file_format, is_saved, is_table, is_text, read_file, records
from rlsum.readers.json_rows import jsonl
from rlsum.readers.rows import USUAL, CorpusError, Read, identity
from rlsum.readers.strict_json import NotJson, json_file, json_object, json_value
from rlsum.readers.tables import csv_file
from rlsum.readers.text import COMPRESSED, DAMAGED, encoding_problem, lines, opened, text_of, uncompressed
from rlsum.readers.understood import Understood

__all__ = [
    "COMPRESSED",
    "DAMAGED",
    "READERS",
    "USUAL",
    "CorpusError",
    "NotJson",
    "Read",
    "Understood",
    "csv_file",
    "encoding_problem",
    "file_format",
    "identity",
    "is_saved",
    "is_table",
    "is_text",
    "json_file",
    "json_object",
    "json_value",
    "jsonl",
    "lines",
    "opened",
    "read_file",
    "records",
    "text_of",
    "uncompressed",
]
