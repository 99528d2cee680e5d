#!/usr/bin/env python3
"""Is each REPORT (a file) as the SCHEMA says?  json_schema.py SCHEMA REPORT...

Exit status 0 yes, 1 no, 77 without a module that validates."""
import json
import sys

# A python3 that stands before the distribution's does not look there.
sys.path.append("/usr/lib/python3/dist-packages")
try:
    import fastjsonschema  # a large report takes 0.1 s, by jsonschema 1.3
except ImportError:
    fastjsonschema = None
    try:
        import jsonschema
    except ImportError:
        print("SKIPPED: no python3-fastjsonschema and no python3-jsonschema:"
              " reports are not held to the schema")
        sys.exit(77)


def whole(number):
    raise ValueError("not JSON: " + number)


def errors_of(report):
    if fastjsonschema is None:
        return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}"
                for error in validator.iter_errors(report)]
    try:
        validator(report)
    except fastjsonschema.JsonSchemaException as error:
        return [str(error)]
    return []


with open(sys.argv[1], encoding="ascii") as file:
    schema = json.load(file)
if fastjsonschema is None:
    jsonschema.Draft7Validator.check_schema(schema)
# Up to 3.2 jsonschema looks for "#/..." below a urn: on the network.
schema.pop("$id", None)
validator = (jsonschema.Draft7Validator(schema) if fastjsonschema is None
             else fastjsonschema.compile(schema))
bad = 0
for name in sys.argv[2:]:
    with open(name, encoding="ascii") as file:
        report = json.load(file, parse_constant=whole)
    for error in errors_of(report):
        print(f"{name}: {error}")
        bad = 1
sys.exit(bad)
