#!/usr/bin/env python3
"""Is each REPORT (a file) as the SCHEMA says?  json_schema.py SCHEMA REPORT...

Exit status 0 yes, 1 no, 77 without the module jsonschema."""
import json
import sys

try:
    import jsonschema
except ImportError:
    print("SKIPPED: no python3-jsonschema: reports are not held to the schema")
    sys.exit(77)


def whole(number):
    raise ValueError("not JSON: " + number)


with open(sys.argv[1], encoding="ascii") as file:
    schema = json.load(file)
jsonschema.Draft7Validator.check_schema(schema)
# Up to 3.2 the module looks for "#/..." below a urn: on the network.
schema.pop("$id", None)
validator = jsonschema.Draft7Validator(schema)
bad = 0
for name in sys.argv[2:]:
    with open(name, encoding="ascii") as file:
        report = json.load(file, parse_constant=whole)
    for error in validator.iter_errors(report):
        path = "/".join(str(step) for step in error.absolute_path)
        print(f"{name}: {path}: {error.message}")
        bad = 1
sys.exit(bad)
