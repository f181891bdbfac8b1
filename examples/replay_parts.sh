#!/bin/sh
# A replay in parts, each in its own process, then merged; and the same in one process, for comparison.
#
#   examples/replay_parts.sh TOOLS.json LOG.jsonl [PARTS]
#
# CALLWRIGHT is the program, if it is not `callwright`. Lines are assigned to parts by session, because a conversation
# split over two parts counts as two.
set -eu

tools=$1
log=$2
parts=${3:-4}
callwright=${CALLWRIGHT:-callwright}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Exit code 1 means that something was found, which is what a replay is for.
replay() {
    "$callwright" replay "$@" || [ $? -eq 1 ]
}

awk -v parts="$parts" -v folder="$folder" '
    {
        session = match($0, /"session": *"[^"]*"/) ? substr($0, RSTART, RLENGTH) : NR
        if (!(session in part)) part[session] = sessions++ % parts
        print > (folder "/part-" part[session] ".jsonl")
    }' "$log"

waiting=
for part in "$folder"/part-*.jsonl; do
    replay --tools "$tools" --emit-summary "${part%.jsonl}.json" --format json "$part" > /dev/null &
    waiting="$waiting $!"
done
for process in $waiting; do
    wait "$process"
done

replay merge --format json "$folder"/part-*.json > "$folder/merged.json"
replay --tools "$tools" --format json "$log" > "$folder/whole.json"

python3 - "$folder/merged.json" "$folder/whole.json" << 'END'
"""Compares two reports, except for the names and the number of files."""
import json, sys

def without_files(value):
    if isinstance(value, dict):
        return {key: without_files(each) for key, each in value.items() if key not in ("examples", "places", "files")}
    if isinstance(value, list):
        return [without_files(each) for each in value]
    return value

merged, whole = (without_files(json.load(open(name))) for name in sys.argv[1:])
for key in sorted(merged.keys() | whole.keys()):
    if merged.get(key) != whole.get(key):
        print(f"different: {key}")
same = merged == whole
print("the parts say the same as the whole" if same else "the parts differ from the whole")
sys.exit(not same)
END
