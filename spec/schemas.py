#!/usr/bin/env python3
"""Checks vectors.json, dialects.json, generator.json and lease.json against their schemas in schema/, which it writes with --write.

A name has one type in all rows of a file, and numbers fit a double: so typed languages can decode the files. Needs `jsonschema`.
"""

import json
import pathlib
import sys

import jsonschema

SPEC = pathlib.Path(__file__).resolve().parent
STRING = {"type": "string"}
NUMBER = {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}
BOOLEAN = {"type": "boolean"}
NUMBERS = {"type": "array", "items": NUMBER}
STRINGS = {"type": "array", "items": STRING}
LISTS = {"type": "array", "items": STRINGS}
SPAN = NUMBERS | {"minItems": 2, "maxItems": 2}
STEPS = {"type": "array", "items": {"$ref": "#/$defs/step"}}

# The type of each name, and the names of each list's rows. A question mark stands for a name that a row can be without.
FILES = {
    "vectors": (
        [
            (STRING, "text hex integer name input why uuid bytes field xxh3 utf8 a b first last separator lines session_tag_input n_input from_input to_input"),
            (NUMBER, "timestamp spin type hash session_tag position code length n shard from to line"),
            (NUMBERS, "utf16"),
            (STRINGS, "texts"),
        ],
        {
            "ids": "text hex integer timestamp spin type hash session_tag name?",
            "texts_refused": "input position why",
            "lenient": "input text",
            "lenient_refused": "input position why",
            "hex": "input hex",
            "hex_refused": "input position why",
            "uuids": "text uuid",
            "uuids_refused": "uuid why",
            "bytes_refused": "bytes",
            "integers_refused": "input why",
            "fields_refused": "field input",
            "types": "code name?",
            "names": "name length xxh3 hash",
            "names_refused": "utf16? utf8? why",
            "pairs": "a b bytes hash session_tag why?",
            "shards": "session_tag n shard",
            "shards_refused": "session_tag_input n_input",
            "times": "from to first last",
            "times_refused": "from_input to_input why",
            "lines": "texts separator lines",
            "lines_refused": "lines separator line position why",
        },
    ),
    "dialects": (
        [
            (STRING, "name digits function epoch_ns form dialect text hex session input layout ns"),
            (NUMBER, "tick_ns from until timestamp spin type hash position node sequence datacenter worker now near"),
            (NUMBERS, "widths"),
            (STRINGS, "candidates"),
            (BOOLEAN, "dashes"),
        ],
        {
            "dialects": "name digits dashes widths function",
            "layouts": "name epoch_ns tick_ns widths form",
            "periods": "name from until",
            "messages": "dialect text hex timestamp type hash spin? session?",
            "messages_refused": "dialect input position",
            "hashes": "dialect session hash",
            "snowflakes": "layout text hex ns timestamp node sequence datacenter? worker?",
            "snowflakes_refused": "layout input position",
            "identify": "input now candidates",
            "identify_near": "input now near candidates",
        },
    ),
    "generator": (
        [
            (STRING, "name call refused statistic event id last_id"),
            (NUMBER, "from milliseconds least values seeds follow again generators processes tag now r q limit"),
            (STRINGS, "rules new"),
            (SPAN, "first last retry repeat ms chi_squared equal most_frequent"),
            (BOOLEAN, "next"),
            (LISTS, "before"),
            (STEPS, "steps"),
        ],
        {
            "cases": "name rules steps",
            "statistics": "name rules statistic from new? before? event? milliseconds? chi_squared? equal? least? values? seeds? most_frequent? generators? processes?",
            "step": "call refused? retry? follow? again? first? last? repeat? ms? next?",
            "after": "name rules last_id? tag now r q limit id? refused?",
        },
    ),
    "lease": (
        [
            (STRING, "name new call"),
            (NUMBER, "from"),
            (STRINGS, "rules"),
            (NUMBERS, "lanes"),
            (SPAN, "ceiling within ms"),
            ({"enum": ["written", "conflict", "lost", "silent"]}, "answer"),
            (BOOLEAN, "refused"),
            (STEPS, "steps"),
        ],
        {"cases": "name rules from new steps", "step": "call ceiling? within? answer? lanes? ms? refused?"},
    ),
}


def schema(types, members):
    of_name = {name: kind for kind, names in types for name in names.split()}

    def row(names):
        keys = {name.rstrip("?"): of_name[name.rstrip("?")] for name in names.split()}
        required = [name for name in names.split() if not name.endswith("?")]
        return {"type": "object", "properties": keys, "required": required, "additionalProperties": False}

    rows = {member: row(names) for member, names in members.items()}
    lists = {member: {"type": "array", "minItems": 1, "items": rows[member]} for member in rows if member != "step"}
    head = {"$schema": {"type": "string"}, "version": {"const": 1}}
    if "names" in members:
        head["xxh3_secret"] = {"type": "string", "pattern": "^[0-9a-f]{384}$"}
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": head | lists}
    made |= {"required": list(made["properties"]), "additionalProperties": False}
    return made | ({"$defs": {"step": rows["step"]}} if "step" in rows else {})


def main():
    for file, (types, members) in FILES.items():
        made = schema(types, members)
        path, text = SPEC / "schema" / f"{file}.json", json.dumps(made, indent=1) + "\n"
        if "--write" in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"schemas.py: {path.name} differs from the tables in schemas.py")
        jsonschema.Draft202012Validator.check_schema(made)
        errors = list(jsonschema.Draft202012Validator(made).iter_errors(json.loads((SPEC / f"{file}.json").read_text())))
        for error in errors[:10]:
            print(f"spec/{file}.json: {error.json_path}: {error.message}")
        if errors:
            sys.exit(1)
    print(f"{', '.join(FILES)}: each fits its schema")


if __name__ == "__main__":
    main()
