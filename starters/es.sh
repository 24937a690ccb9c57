#!/usr/bin/env bash
# Makes the Spanish starter from raw data: two encoders, a parser, a bridge, refining, packing.
#
#   starters/es.sh DATA WORK        # DATA as in docs/results.md; about three hours of one core
#
# Every step resumes where it was interrupted, and is skipped when its result is there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
data=$1 work=$2
ewt=$data/ud-2.6/UD_English-EWT/en_ewt-ud
bitext=$data/bitext/en-es.tsv.xz
mkdir -p "$work"

made() { [ -e "$work/$1/config.json" ] && echo "$1: there already"; }

made mini-en || treebridge pretrain "$data/text/en.txt.xz" "$bitext" --side source \
  --tokens 12000000 --masked 0.15 -o "$work/mini-en"
made mini-es || treebridge pretrain "$data/text/es.txt.xz" "$bitext" --side target \
  --tokens 12000000 --masked 0.15 -o "$work/mini-es"
# The bridge is fitted on the very vectors that users will have: those of the packed encoder.
made mini-es-packed || treebridge pack "$work/mini-es" --bits 6 -o "$work/mini-es-packed"
made en || treebridge train "$ewt-train.conllu" --dev "$ewt-dev.conllu" \
  --encoder "$work/mini-en" -o "$work/en"
made en-es || treebridge bridge "$bitext" --into "$work/en" --target-encoder "$work/mini-es-packed" \
  --pairs 100000 -o "$work/en-es"
made es || treebridge refine --model "$work/en" --bridge "$work/en-es" --bitext "$bitext" \
  --pairs 100000 --sentences 30000 --treebank "$ewt-train.conllu" -o "$work/es"
treebridge evaluate --model "$work/es" "$data/ud-2.6/UD_Spanish-GSD/es_gsd-ud-dev.conllu"
# The scores in es.toml are those of the line above.
treebridge pack "$work/es" --bits 6 --force -o "$here/../src/treebridge/models/es" \
  --card "$here/es.toml"
