"""Read the reports for other tools strictly: reports.py FOLDER LINE FUNCTION.

FOLDER has a file of each format, of a program that loses 96 bytes in 4 blocks
at LINE of program.c, in FUNCTION.
"""

import gzip
import json
import os
import re
import sys
import xml.etree.ElementTree as xml

folder, line, function = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def text(name):
    with open(os.path.join(folder, name), encoding='utf-8') as file:
        return file.read()


def check(condition, *what):
    if not condition:
        sys.exit('reports.py: ' + ' '.join(map(str, what)))


def schema_of_sarif(document):
    """With the schema of SARIF_SCHEMA, if it and jsonschema are there."""
    try:
        import jsonschema
        with open(os.environ['SARIF_SCHEMA'], encoding='utf-8') as file:
            schema = json.load(file)
    except (ImportError, KeyError):
        return
    jsonschema.validate(document, schema)


def sarif():
    document = json.loads(text('sarif'))
    schema_of_sarif(document)
    check(document['version'] == '2.1.0', 'version')
    run, = document['runs']
    check(run['invocations'][0]['executionSuccessful'] is True, 'invocation')
    rules = [rule['id'] for rule in run['tool']['driver']['rules']]
    result, = run['results']
    check(rules[result['ruleIndex']] == result['ruleId'] == 'lost-memory')
    place = result['locations'][0]['physicalLocation']
    check(place['artifactLocation'] ==
          {'uri': 'program.c', 'uriBaseId': 'SRCROOT'}, place)
    check(place['region']['startLine'] == line, place)
    check(run['originalUriBaseIds']['SRCROOT']['uri'].startswith('file:///'))
    check(result['message']['text'].startswith('96 bytes in 4 blocks'))
    check(re.fullmatch('[0-9a-f]{16}',
                       result['partialFingerprints']['memunreachableGroup/v1']))
    check(len(result['stacks'][0]['frames']) >= 2)
    return result['partialFingerprints']['memunreachableGroup/v1']


def junit():
    root = xml.fromstring(text('junit'))
    check(root.tag == 'testsuites', root.tag)
    suite, = root
    check(suite.tag == 'testsuite' and suite.get('tests') == '1' and
          suite.get('failures') == '1' and suite.get('errors') == '0')
    case, = suite
    check(case.tag == 'testcase' and case.get('file') == 'program.c' and
          case.get('line') == str(line), case.attrib)
    failure, = case
    check(failure.tag == 'failure' and '96 bytes' in failure.get('message'))
    check(function in failure.text)


def github():
    first, = text('github').splitlines()
    check(re.fullmatch(r'::error file=program\.c,line=%d,title=[^:,]+::'
                       r'96 bytes in 4 blocks .*' % line, first), first)


def gitlab(print_):
    issue, = json.loads(text('gitlab'))
    check(issue['location'] == {'path': 'program.c', 'lines': {'begin': line}})
    check(issue['severity'] in
          ('info', 'minor', 'major', 'critical', 'blocker'))
    check(issue['fingerprint'] == print_ and issue['check_name'] and
          issue['description'])


def folded():
    first, = text('folded').splitlines()
    match = re.fullmatch(r'(program(?:;[^; ]+)+) (\d+)', first)
    check(match and match[2] == '96' and
          match[1].endswith(';main;' + function), first)


def fields(data):
    """The fields of a message of protobuf: (number, value)."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        check(tag & 7 in (0, 2), 'wire type', tag)
        value = varint()
        if tag & 7 == 2:
            check(at + value <= len(data), 'length')
            at, value = at + value, data[at:at + value]
        yield tag >> 3, value


def packed(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0


def pprof():
    with gzip.open(os.path.join(folder, 'pprof')) as file:
        data = list(fields(file.read()))
    strings = [value.decode() for number, value in data if number == 6]
    check(strings[0] == '', 'the first string')
    functions = {}
    for number, value in data:
        if number == 5:
            one = dict(fields(value))
            functions[one[1]] = strings[one[2]]
    locations = {}
    for number, value in data:
        if number == 4:
            one = dict(fields(value))
            locations[one[1]] = functions[dict(fields(one[4]))[1]]
    types = [strings[dict(fields(value))[1]]
             for number, value in data if number == 1]
    check(types == ['lost_objects', 'lost_space', 'inuse_objects',
                    'inuse_space'], types)
    samples = []
    for number, value in data:
        if number == 2:
            one = dict(fields(value))
            samples.append(([locations[i] for i in packed(one[1])],
                            list(packed(one[2]))))
    lost = [sample for sample in samples if sample[1][1] > 0]
    check(len(lost) == 1 and lost[0][1] == [4, 96, 0, 0], lost)
    check(lost[0][0][:2] == [function, 'main'], lost)
    check(sum(sample[1][3] for sample in samples) > 0, 'nothing in use')


def lsan():
    said = text('lsan')
    check(re.search(r'^==\d+==ERROR: LeakSanitizer: detected memory leaks$',
                    said, re.M))
    leaks = re.findall(r'^(Direct|Indirect) leak of (\d+) byte\(s\) in (\d+) '
                       r'object\(s\) allocated from:\n'
                       r'    #0 0x[0-9a-f]+ in %s .*:%d$' % (function, line),
                       said, re.M)
    check(leaks == [('Direct', '24', '1'), ('Indirect', '72', '3')], leaks)
    check(said.endswith('SUMMARY: LeakSanitizer: 96 byte(s) leaked in 4 '
                        'allocation(s).\n'), said)


def markdown():
    lines = text('markdown').splitlines()
    check(lines[0] == '### program: 96 bytes lost in 4 blocks', lines[0])
    check('| 96 bytes | 4 | %s \\< main | program\\.c:%d |' %
          (function, line) in lines, lines)


fingerprint = sarif()
junit()
github()
gitlab(fingerprint)
folded()
pprof()
lsan()
markdown()
print(fingerprint)
