#!/usr/bin/env python3
"""What stapo-analyze says of every log of a folder, as a table: verdicts.py FOLDER [PROGRAM]"""
import json
import pathlib
import subprocess
import sys

program = sys.argv[2] if len(sys.argv) > 2 else "stapo-analyze"
print("| run | state | likely | possible |\n|---|---|---|---|")
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.parquet")):
    command = [program, str(path), "--format", "json", "--full", "--quiet"]
    said = json.loads(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout)["diagnosis"]
    named = {kind: [c["code"] for c in said["causes"] if c["confidence"] == kind] for kind in ("likely", "possible")}
    print(f"| {path.stem} | {said['state']} | {', '.join(named['likely'])} | {', '.join(named['possible'])} |", flush=True)
